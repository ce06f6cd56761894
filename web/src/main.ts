// Brings the page's parts together.

import { dayOf } from "./data/budget";
import { Ledger } from "./data/ledger";
import { dataLimit, inWords } from "./data/limit";
import { missingFeatures, type Problem, problem } from "./errors";
import { Controls } from "./input/controls";
import type { OwnerDialog } from "./owner/dialog";
import { BEST, couldReportMarks, type Feedback, isFeedback } from "./session/feedback";
import { Session } from "./session/session";
import { type Credential, keepDevice, keepToken, takeToken } from "./session/token";
import { type Info, Refusal, Whep } from "./session/whep";
import { loadSettings, storeSettings } from "./settings";
import { canPlayDirectly } from "./sound/direct";
import { SoundPlayer } from "./sound/player";
import { Overlay } from "./statistics/overlay";
import { exposeSurface } from "./surface";
import { Bar } from "./ui/bar";
import { type CardAction, cardContent, reconnecting, sentence } from "./ui/card";
import { CardView } from "./ui/card-view";
import { connectDialogs } from "./ui/dialogs";
import { element, setText } from "./ui/dom";

/** How long a passing notice stays. */
const NOTICE_TIME = 8000;

const query = new URLSearchParams(location.search);
const viewerPage = query.get("role") === "view";
const stage = element("stage");
const field = element<HTMLTextAreaElement>("text");
const video = element<HTMLVideoElement>("video");
const sound = new SoundPlayer(document.body.appendChild(new Audio()), render);
const statusLine = element("status");
const marksNote = element("help-marks");
const dataNote = element("data-note");
const settings = loadSettings();
const ledger = new Ledger();

let credential: Credential | undefined = takeToken();
/** Whether the host was asked to show a PIN. */
let askedForPin = false;
/** What pairing brought up. */
let pairProblem: Problem | undefined;
let info: Info | undefined;
/** What asking for what there is brought up. */
let infoProblem: Problem | undefined;
let notice = "";
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

const whep = new Whep(document.baseURI, () => credential);
const session = new Session(
  video,
  sound,
  whep,
  {
    changed: render,
    notice: ({ message }) => show(message),
    renewed: () => {
      ledger.begin();
      controls.reset();
    },
    measured: ({ bytes }) => {
      ledger.count(bytes, 1);
      limitData();
    },
    copied: (text) => controls.copied(text),
  },
  firstFeedback(query.get("feedback")),
);
const controls = new Controls(stage, field, video, settings, () => session, {
  changed: render,
  hint: show,
  combination,
});
const note = insecureNote();
const card = new CardView({ action, token: useToken, pair: usePin }, note);
const overlay = new Overlay(element("statistics"));
const bar = new Bar({
  play: () => (controls.taken ? controls.release() : controls.take()),
  fullscreen: toggleFullscreen,
  statistics: toggleStatistics,
  mute: toggleMute,
  leave: () => session.leave(),
});
const ownerButton = element("owner-open");
ownerButton.addEventListener("click", () => void openOwner());
connectDialogs(settings, note, () => {
  limitData();
  render();
});
limitData();
exposeSurface(session, currentProblem, () => controls.taken);

window.addEventListener("online", () => session.wake());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    session.wake();
  }
});
window.addEventListener("pagehide", () => session.leave());
window.addEventListener("pageshow", ({ persisted }) => {
  // Back from the cache, where nothing of the session is left.
  if (persisted) {
    location.reload();
  }
});

render();
if (document.prerendering) {
  // A page nobody sees must not take somebody's place.
  document.addEventListener("prerenderingchange", () => void open(), { once: true });
} else {
  void open();
}

/** Asks what there is; a page for watching begins at once. */
async function open(): Promise<void> {
  try {
    info = await whep.info();
    const refused = info.token_required && info.source === undefined;
    infoProblem = refused ? problem(credential ? "token-wrong" : "token-missing") : undefined;
  } catch (error) {
    // What else is wrong, the attempt to play will tell.
    const refused = error instanceof Refusal && error.problem.remedies.includes("token");
    infoProblem = refused ? error.problem : undefined;
  }
  if (viewerPage && !infoProblem) {
    session.start("viewer");
  }
  render();
}

function action(chosen: CardAction): void {
  switch (chosen) {
    case "play":
      session.start("player");
      break;
    case "watch":
      session.start("viewer");
      break;
    case "test-line":
      session.testLine();
      return;
    case "retry":
      session.start(session.role);
      break;
    case "start-picture":
      session.startPicture();
      break;
  }
  if (session.role === "player") {
    // The browser allows it now, in answer to a press, but not when the picture comes.
    controls.take();
  }
}

function useToken(given: string): void {
  credential = { token: given };
  keepToken(given);
  retry();
}

let owner: OwnerDialog | undefined;

/** Shows what the host does, to its owner. */
async function openOwner(): Promise<void> {
  const { OwnerDialog } = await import("./owner/dialog");
  owner ??= new OwnerDialog(whep, element<HTMLDialogElement>("owner"));
  owner.open();
}

/** Has the host show a PIN. */
async function askForPin(): Promise<void> {
  try {
    await (await import("./session/pairing")).askForPin(document.baseURI);
  } catch (error) {
    show(error instanceof Refusal ? sentence(error.problem.message) : "The host does not answer.");
  }
}

/** Pairs this device with the host, which shows the PIN. */
async function usePin(pin: string, name: string): Promise<void> {
  try {
    credential = await (await import("./session/pairing")).pair(document.baseURI, pin, name);
    keepDevice(credential);
    pairProblem = undefined;
    retry();
  } catch (error) {
    pairProblem = error instanceof Refusal ? error.problem : problem("unreachable");
    // Another PIN is needed.
    askedForPin &&= pairProblem.code !== "pin-old";
    render();
  }
}

/** Asks again, with what the page knows now. */
function retry(): void {
  pairProblem = undefined;
  if (session.state === "failed") {
    session.start(session.role);
  } else {
    void open();
  }
}

/** Ctrl+Alt+Shift with a key. */
function combination(code: string): boolean {
  switch (code) {
    case "KeyS":
      toggleStatistics();
      return true;
    case "KeyQ":
      if (session.running) {
        session.leave();
      }
      return true;
    case "KeyX":
      toggleFullscreen();
      return true;
    case "KeyZ":
      if (controls.taken) {
        controls.release();
      } else {
        controls.take();
      }
      return true;
    default:
      return false;
  }
}

function toggleStatistics(): void {
  settings.statistics = !settings.statistics;
  storeSettings(settings);
  render();
}

/** Has the stream keep to what the settings allow of the month's data. */
function limitData(): void {
  const limit = dataLimit(settings, ledger.days(), dayOf(new Date()));
  session.limit(limit.bitrate);
  const words = inWords(limit, settings.monthlyData);
  dataNote.hidden = words === "";
  setText(dataNote, words);
}

function toggleMute(): void {
  // The press itself starts what the browser had refused.
  settings.muted = sound.isRefused ? false : !settings.muted;
  storeSettings(settings);
  render();
}

function toggleFullscreen(): void {
  const change = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen?.({ navigationUI: "hide" });
  change?.catch(() => show("The browser refused fullscreen."));
}

function show(text: string): void {
  notice = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice = "";
    render();
  }, NOTICE_TIME);
  render();
}

function render(): void {
  const { state } = session;
  const hasPicture = state === "playing" || state === "watching";
  const hasPlayed = state === "reconnecting" && session.hasPlayed;
  const sources = {
    state,
    info,
    viewerPage,
    hasPlayed,
    problem: currentProblem(),
    ending: session.ending,
    waiting: session.waiting,
    cause: session.cause,
    attempts: session.attempts,
    testing: session.testing,
    line: session.line?.words,
  };
  document.body.dataset.state = state;
  document.body.classList.toggle("locked", controls.locked);
  const content = cardContent(sources);
  card.render(content);
  const wantsPin = content?.pin === true;
  if (wantsPin && !askedForPin) {
    void askForPin();
  }
  askedForPin = wantsPin;
  setText(statusLine, statusText(hasPlayed));
  sound.set({ muted: settings.muted, volume: settings.volume / 100 });
  bar.render({
    playing: state === "playing",
    watching: state === "watching",
    running: session.running,
    taken: controls.taken,
    statistics: settings.statistics,
    fullscreen: document.fullscreenElement !== null,
    sound: session.hasSound,
    muted: settings.muted || sound.isRefused,
  });
  ownerButton.hidden = info?.owner !== true;
  marksNote.hidden = !couldReportMarks(navigator.userAgent, session.feedback);
  overlay.isShort = settings.shortStatistics;
  overlay.visible = settings.statistics && (hasPicture || hasPlayed);
  const { hello, statistics, measured, shown } = session;
  overlay.render({ hello, statistics, measured, shown }, session.history, performance.now());
  controls.update();
}

function currentProblem(): Problem | undefined {
  return pairProblem ?? session.problem ?? (session.state === "idle" ? infoProblem : undefined);
}

function statusText(hasPlayed: boolean): string {
  if (hasPlayed) {
    return reconnecting(session);
  }
  if (session.waiting) {
    return sentence(session.waiting);
  }
  if (notice) {
    return notice;
  }
  if (session.state === "playing" && !controls.taken) {
    return "Click or tap the picture to play";
  }
  const hasPicture = session.state === "playing" || session.state === "watching";
  return (hasPicture && session.statistics?.why?.words) || "";
}

function insecureNote(): string {
  const missing = missingFeatures({
    isSecureContext,
    hasGamepads: "getGamepads" in navigator,
    hasKeyboardLock: "keyboard" in navigator,
    hasRawUpdates: "onpointerrawupdate" in window,
    hasTrackProcessor: "MediaStreamTrackProcessor" in window,
    hasDirectSound: canPlayDirectly(),
  });
  return missing.length === 0 ? "" : `Without HTTPS this browser has no ${missing.join(", no ")}.`;
}

function firstFeedback(asked: string | null): Feedback {
  return isFeedback(asked) ? asked : BEST;
}
