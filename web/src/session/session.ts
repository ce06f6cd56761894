// A session as a person sees it: it begins, breaks, comes back and ends.

import { type Problem, problem } from "../errors";
import { FrameReports } from "../frames/reports";
import { play } from "../input/rumble";
import type { SoundPlayer } from "../sound/player";
import { type Look, type Measured, Observer } from "../statistics/client";
import { busyShare } from "../statistics/decision";
import { History } from "../statistics/graph";
import { type ChannelName, Connection, type ConnectionEvent } from "./connection";
import { afterRejection, BEST, type Feedback } from "./feedback";
import { type Decision, Link, type LinkEvent } from "./link";
import {
  type Hello,
  type HostMessage,
  type LineReport,
  limitMessage,
  type Notice,
  type Role,
  type Statistics,
  TEST_LINE,
} from "./messages";
import type { Whep } from "./whep";

export type State =
  | "idle"
  | "connecting"
  | "playing"
  | "watching"
  | "reconnecting"
  | "failed"
  | "ended";

export interface SessionListener {
  /** State, statistics or anything else to be seen is another. */
  changed(): void;
  notice(notice: Pick<Notice, "code" | "message">): void;
  /** A new session begins, for which the host counts input from nothing. */
  renewed(): void;
  /** A second's figures have come. */
  measured(measured: Measured): void;
  /** A program at the host has copied this text. */
  copied(text: string): void;
}

/** Often enough to notice a break in time. */
const TICK = 250;
/** So many frames, none of them decoded, are no accident. */
const UNDECODED_LIMIT = 120;

export class Session {
  role: Role = "viewer";
  hello: Hello | undefined;
  statistics: Statistics | undefined;
  measured: Measured | undefined;
  /** Why the host ended the session, in its words. */
  ending: string | undefined;
  /** Why no pictures come for now, in the host's words. */
  waiting: string | undefined;
  /** What the last test of the line found. */
  line: LineReport | undefined;
  /** Whether this session only tests the line. */
  testing = false;
  history = new History();

  readonly #video: HTMLVideoElement;
  readonly #sound: SoundPlayer;
  readonly #whep: Whep;
  readonly #listener: SessionListener;
  readonly #firstFeedback: Feedback;
  readonly #reports: FrameReports;
  /** The most that the stream may take, in bit/s. */
  #limit: number | null = null;
  readonly #link = new Link(Math.random);
  /** What to ask for. */
  #feedback: Feedback = BEST;
  #agreed: Feedback | undefined;
  #connection: Connection | undefined;
  /** The newest session that the host knows; the next one replaces it. */
  #known: string | undefined;
  #observer = new Observer();
  /** The present session's track, while it is not shown yet. */
  #newest: MediaStreamTrack | undefined;
  #hasPicture = false;
  #autoplayRefused = false;

  constructor(
    video: HTMLVideoElement,
    sound: SoundPlayer,
    whep: Whep,
    listener: SessionListener,
    firstFeedback: Feedback,
  ) {
    this.#video = video;
    this.#sound = sound;
    this.#whep = whep;
    this.#listener = listener;
    this.#firstFeedback = firstFeedback;
    this.#reports = new FrameReports(video, {
      send: (data) => this.send("frames", data),
      shown: ({ rtpTimestamp, expectedDisplayTime }) => {
        this.#picture();
        if (rtpTimestamp !== undefined) {
          this.#observer.sound.picture(rtpTimestamp, expectedDisplayTime);
        }
      },
    });
    setInterval(() => void this.#tick(), TICK);
  }

  get state(): State {
    switch (this.#link.phase) {
      case "idle":
      case "failed":
        return this.#link.phase;
      case "stopped":
        return "ended";
      case "live":
        if (this.#hasPicture) {
          return this.role === "player" ? "playing" : "watching";
        }
    }
    const first = !this.#link.hasPlayed && this.#link.attempts <= 1;
    return first && this.#link.phase !== "waiting" ? "connecting" : "reconnecting";
  }

  get problem(): Problem | undefined {
    return this.#link.problem ?? (this.#autoplayRefused ? problem("autoplay") : undefined);
  }

  /** What broke last, in words; empty when all is well. */
  get cause(): string {
    return this.#link.cause;
  }

  get attempts(): number {
    return this.#link.attempts;
  }

  /** Whether there has been a picture since the person asked for one. */
  get hasPlayed(): boolean {
    return this.#link.hasPlayed;
  }

  get reconnects(): number {
    return this.#link.reconnects;
  }

  /** What the newest session's ends have agreed on. */
  get feedback(): Feedback | undefined {
    return this.#agreed;
  }

  /** Whether the host sends sound. */
  get hasSound(): boolean {
    return this.#connection?.hasSound ?? false;
  }

  /** Frames shown in the present session. */
  get shown(): number {
    return this.#reports.shown;
  }

  get id(): string | undefined {
    return this.#connection?.session;
  }

  get peer(): RTCPeerConnection | undefined {
    return this.#connection?.peer;
  }

  /** Whether anything is under way that can be left. */
  get running(): boolean {
    return !["idle", "failed", "ended"].includes(this.state);
  }

  start(role: Role): void {
    this.line = undefined;
    this.testing = false;
    this.#start(role);
  }

  /** Begins a session that ends with the result of a test of the line. */
  testLine(): void {
    this.line = undefined;
    this.testing = true;
    this.#start("viewer");
  }

  #start(role: Role): void {
    this.role = role;
    this.ending = undefined;
    this.#feedback = this.#firstFeedback;
    this.#video.srcObject = null;
    this.#handle({ kind: "start" });
  }

  /** Ends the session; without a reason because the person leaves. */
  leave(reason?: string): void {
    this.ending = reason;
    this.#handle({ kind: "stop" });
  }

  /** The network is back or the page visible again. */
  wake(): void {
    this.#handle({ kind: "wake" });
  }

  /** A press that allows the browser to start the picture. */
  startPicture(): void {
    this.#autoplayRefused = false;
    this.#play();
    this.#listener.changed();
  }

  send(channel: ChannelName, data: ArrayBuffer): void {
    this.#connection?.send(channel, data);
  }

  /** Sends JSON. */
  tell(message: string): void {
    this.#connection?.send("control", message);
  }

  /** Has picture and sound take at most so many bit/s; null for no limit but the host's. */
  limit(bitrate: number | null): void {
    if (bitrate !== this.#limit) {
      this.#limit = bitrate;
      this.tell(limitMessage(bitrate));
    }
  }

  #handle(event: LinkEvent): void {
    const before = this.#link.phase;
    this.#apply(this.#link.handle(performance.now(), event));
    if (this.#link.phase !== before || event.kind === "start") {
      this.#listener.changed();
    }
  }

  #apply({ action }: Decision): void {
    if (action === "none") {
      return;
    }
    this.#disconnect();
    if (action === "connect") {
      this.#connect();
    } else if (this.#link.phase !== "waiting") {
      this.#forget();
    }
  }

  #connect(): void {
    this.hello = undefined;
    this.waiting = undefined;
    this.statistics = undefined;
    this.measured = undefined;
    this.#observer = new Observer();
    this.#listener.renewed();
    if (!("RTCPeerConnection" in globalThis)) {
      this.#handle({ kind: "refused", problem: problem("no-webrtc") });
      return;
    }
    this.#connection = new Connection(this.#whep, (event) => this.#connectionEvent(event));
    this.#sound.take(this.#connection.soundReceiver);
    void this.#connection.open({
      role: this.role,
      feedback: this.#feedback,
      replaces: this.#known,
    });
  }

  #disconnect(): void {
    this.#reports.end();
    // Paused, it keeps its last frame when the track ends.
    this.#video.pause();
    this.#sound.end();
    this.#connection?.close();
    this.#connection = undefined;
    this.#newest = undefined;
    this.#hasPicture = false;
    this.#autoplayRefused = false;
  }

  /** Ends what the host still has of this page. */
  #forget(): void {
    this.#video.srcObject = null;
    if (this.#known) {
      this.#whep.end(this.#known);
      this.#known = undefined;
    }
  }

  #connectionEvent(event: ConnectionEvent): void {
    switch (event.kind) {
      case "answered":
        this.#known = this.#connection?.session;
        this.#agreed = event.feedback;
        this.#sound.understand(event.redundant);
        this.#handle(event);
        break;
      case "refused":
        if (event.problem.code === "view-only" && this.role === "player") {
          this.#listener.notice({ code: "view-only", message: event.problem.title });
          this.start("viewer");
        } else {
          this.#handle(event);
        }
        break;
      case "rejected":
        this.#rejected(event.problem);
        break;
      case "unanswered":
      case "ice":
      case "relay":
        this.#handle(event);
        break;
      case "track":
        this.#track(event.track);
        break;
      case "message":
        this.#message(event.message);
        break;
      case "rumble":
        play(event.rumble, navigator.getGamepads());
        break;
      case "question":
        this.#reports.answer(event.data);
        break;
    }
  }

  /** A browser that does not take an extension takes an answer without it. */
  #rejected(problem: Problem): void {
    const next = afterRejection(this.#feedback);
    if (next) {
      this.#feedback = next;
      this.#handle({ kind: "again" });
    } else {
      this.#handle({ kind: "refused", problem });
    }
  }

  #track(track: MediaStreamTrack): void {
    if (track.kind === "audio") {
      this.#sound.begin(track);
      this.#listener.changed();
      return;
    }
    this.#reports.begin(track, this.#agreed ?? this.#feedback);
    this.#newest = track;
    if (this.#video.srcObject === null) {
      this.#attach(track);
    } else {
      // The last session's frame stays in sight until there is a newer one.
      track.addEventListener("unmute", () => this.#attach(track), { once: true });
    }
  }

  /** Shows a track, unless it is the last session's or shown already. */
  #attach(track: MediaStreamTrack | undefined): void {
    if (track && track === this.#newest) {
      this.#newest = undefined;
      this.#video.srcObject = new MediaStream([track]);
      this.#play();
    }
  }

  #play(): void {
    this.#video.play().catch((error: unknown) => {
      // A newer stream aborts this one's start, which is no refusal.
      if (error instanceof DOMException && error.name === "NotAllowedError") {
        this.#autoplayRefused = true;
        this.#listener.changed();
      }
    });
  }

  #message(message: HostMessage): void {
    this.#handle({ kind: "alive" });
    switch (message.type) {
      case "hello":
        // A browser may not tell of a track's first packet.
        this.#attach(this.#newest);
        this.hello = message;
        this.#observer.sound.clocks(message.picture_clock, message.sound_clock);
        this.role = message.role === "player" ? "player" : "viewer";
        if (this.testing) {
          this.tell(TEST_LINE);
        } else if (this.#limit !== null) {
          this.tell(limitMessage(this.#limit));
        }
        break;
      case "line":
        if (this.testing) {
          this.line = message;
          this.testing = false;
          this.leave();
        }
        break;
      case "statistics":
        this.statistics = message;
        this.#observer.sound.clocks(undefined, message.sound?.clock);
        this.history.add({
          time: performance.now(),
          target: message.point?.target ?? null,
          delay: message.point?.delay ?? null,
          busy: busyShare(message),
          queue: message.decision?.queue_delay ?? null,
        });
        break;
      case "feedback":
        this.#feedback = message.use;
        this.#handle({ kind: "again" });
        break;
      case "candidates":
        this.#connection?.reach(message.candidates);
        this.#handle({ kind: "elsewhere" });
        break;
      case "clipboard":
        this.#listener.copied(message.text);
        break;
      case "notice":
        this.#notice(message);
        break;
    }
    this.#listener.changed();
  }

  #notice(notice: Notice): void {
    switch (notice.code) {
      case "ended":
        this.leave(notice.message);
        break;
      case "waiting":
        this.waiting = notice.message;
        break;
      case "resumed":
        this.waiting = undefined;
        break;
      case "line-not-tested":
        if (this.testing) {
          this.testing = false;
          this.leave(notice.message);
        }
        break;
      case "not-decoded":
        this.#handle({ kind: "stalled" });
        break;
      default:
        this.#listener.notice(notice);
    }
  }

  #picture(): void {
    this.#handle({ kind: "picture" });
    if (!this.#hasPicture) {
      this.#hasPicture = true;
      this.#listener.changed();
    }
  }

  async #tick(): Promise<void> {
    const connection = this.#connection;
    if (connection?.session) {
      const { isDirect, played } = this.#sound;
      if (!isDirect) {
        this.#observer.sound.heard(connection.soundSources);
      } else if (played) {
        this.#observer.sound.played(played);
      }
      const look = await this.#observer.look(connection.peer);
      // Another session may have begun meanwhile.
      if (connection === this.#connection) {
        this.#looked(look, connection);
      }
    }
    this.#handle({ kind: "tick" });
  }

  #looked({ alive, measured }: Look, connection: Connection): void {
    if (alive) {
      this.#handle({ kind: "alive" });
    }
    if (measured) {
      this.measured = measured;
      connection.send("control", JSON.stringify(measured.client));
      this.#sound.look();
      this.#judge(measured);
      this.#listener.measured(measured);
      this.#listener.changed();
    }
  }

  #judge({ client }: Measured): void {
    if (this.#hasPicture) {
      return;
    }
    // A hidden page is told of no frame.
    if (document.hidden && (client.decoded ?? 0) > 0) {
      this.#picture();
    } else if (client.decoded === 0 && (client.received ?? 0) > UNDECODED_LIMIT) {
      this.#handle({ kind: "refused", problem: problem("no-decode") });
    }
  }
}
