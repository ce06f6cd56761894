// The card in the middle while there is no picture: what is, and what to do.

import type { Problem, Remedy } from "../errors";
import type { State } from "../session/session";
import type { Info } from "../session/whep";

export type CardAction = "play" | "watch" | "test-line" | "retry" | "start-picture";

export interface CardSources {
  readonly state: State;
  readonly problem: Problem | undefined;
  readonly info: Info | undefined;
  /** Why the session ended, in the host's words. */
  readonly ending: string | undefined;
  /** Why no pictures come for now, in the host's words. */
  readonly waiting: string | undefined;
  /** What broke last. */
  readonly cause: string;
  readonly attempts: number;
  readonly hasPlayed: boolean;
  /** Whether the session only tests the line. */
  readonly testing: boolean;
  /** What a test of the line found, in plain words. */
  readonly line: readonly string[] | undefined;
  /** The page was opened for watching only. */
  readonly viewerPage: boolean;
}

export interface CardContent {
  readonly title: string;
  readonly text: string;
  readonly token: boolean;
  /** Whether a PIN of the host's can be entered. */
  readonly pin: boolean;
  /** The first one is the main one. */
  readonly actions: readonly CardAction[];
}

/** What the card shows; `undefined` when the picture has the place. */
export function cardContent(sources: CardSources): CardContent | undefined {
  const { state, problem, info, ending } = sources;
  const begin: CardAction[] = sources.viewerPage ? ["watch"] : ["play", "watch"];
  if (problem) {
    const pairing = info?.pairing === true && problem.code !== "view-only";
    const token = problem.remedies.includes("token");
    return {
      title: problem.title,
      text: sentence(problem.message),
      token,
      pin: problem.remedies.includes("pin") || (token && pairing),
      actions: problem.remedies.filter((remedy): remedy is Exclude<Remedy, "token" | "pin"> => {
        return remedy !== "token" && remedy !== "pin";
      }),
    };
  }
  if (sources.testing) {
    const text = "The host sends as much as the line takes, for two or three seconds.";
    return { title: "Testing your line…", text, token: false, pin: false, actions: [] };
  }
  if (sources.line) {
    const text = sources.line.join("\n");
    return { title: "Your line", text, token: false, pin: false, actions: begin };
  }
  switch (state) {
    case "idle":
      return {
        title: "Mimosa",
        text: offer(info),
        token: false,
        pin: false,
        actions: [...(info?.player_present ? [...begin].reverse() : begin), "test-line"],
      };
    case "connecting":
      return {
        title: "Connecting…",
        text: sources.waiting ? sentence(sources.waiting) : offer(info),
        token: false,
        pin: false,
        actions: [],
      };
    case "reconnecting":
      // The last frame stays in sight where there is one; the status line tells.
      return sources.hasPlayed
        ? undefined
        : {
            title: "Connecting…",
            text: reconnecting(sources),
            token: false,
            pin: false,
            actions: [],
          };
    case "ended":
      return {
        title: ending ? "The session has ended" : "You have left",
        text: ending ? sentence(ending) : "Thank you for playing.",
        token: false,
        pin: false,
        actions: begin,
      };
    default:
      return undefined;
  }
}

/** `The connection was interrupted. Trying again (attempt 3)…` */
export function reconnecting({ cause, attempts }: Pick<CardSources, "cause" | "attempts">): string {
  const again = attempts > 1 ? `Trying again (attempt ${attempts})…` : "Connecting again…";
  return cause ? `${cause}. ${again}` : again;
}

/** `demo · 1280×720 · 60 fps. 2 of 4 places for watching are taken.` */
export function offer(info: Info | undefined): string {
  if (!info?.source) {
    return "";
  }
  const what = [info.source];
  if (info.width && info.height) {
    what.push(`${info.width}×${info.height}`);
  }
  if (info.fps) {
    what.push(`${info.fps} fps`);
  }
  const sentences = [what.join(" · ")];
  if (info.player_present) {
    sentences.push("Somebody is playing; you can watch.");
  }
  if (info.viewers && info.viewer_limit) {
    sentences.push(`${info.viewers} of ${info.viewer_limit} places for watching are taken.`);
  }
  return sentences.join("\n");
}

/** The host's words, which begin small and have no full stop. */
export function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return start === "" || /[.!?]$/.test(start) ? start : `${start}.`;
}

export const ACTION_WORDS: Readonly<Record<CardAction, string>> = {
  play: "Play",
  watch: "Watch",
  "test-line": "Test my line",
  retry: "Try again",
  "start-picture": "Start the picture",
};

/** What a person might call this device: `Firefox on Android`. */
export function deviceName(agent: string): string {
  const find = (words: readonly (readonly [string, RegExp])[]) =>
    words.find(([, pattern]) => pattern.test(agent))?.[0];
  const browser = find([
    ["Firefox", /Firefox\//],
    ["Edge", /Edg\//],
    ["Chrome", /Chrom(e|ium)\//],
    ["Safari", /Safari\//],
  ]);
  const system = find([
    ["Android", /Android/],
    ["an iPhone", /iPhone/],
    ["an iPad", /iPad/],
    ["a Mac", /Mac OS X/],
    ["Windows", /Windows/],
    ["Linux", /Linux/],
  ]);
  return `${browser ?? "Browser"}${system ? ` on ${system}` : ""}`;
}
