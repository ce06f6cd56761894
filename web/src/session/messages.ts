// The JSON of the data channel `control`.

import { type Feedback, isFeedback } from "./feedback";

export type Role = "player" | "viewer";

type Value = number | null;

/** Ties a stream's RTP times to the host's clock, in milliseconds. */
export interface RtpClock {
  readonly rtp: number;
  readonly time: number;
}

/** The sound as it is sent. */
export interface Sound {
  readonly clock?: RtpClock;
  readonly bitrate?: Value;
  /** Earlier frames in each packet. */
  readonly redundancy?: Value;
}

export interface Hello {
  readonly type: "hello";
  readonly version: string;
  readonly role: Role;
  readonly source: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly encoder: string;
  /** The codec's name in RTP; a host may be older. */
  readonly codec?: string;
  readonly controller: string;
  readonly feedback: Feedback;
  readonly max_bitrate: number;
  /** Null where a host is older, and without sound. */
  readonly picture_clock?: RtpClock | null;
  readonly sound_clock?: RtpClock | null;
  /** What is copied on one side can be pasted on the other. */
  readonly clipboard?: boolean;
}

export interface Stages {
  readonly capture: Value;
  readonly encode: Value;
  readonly pace: Value;
  readonly network: Value;
  readonly decode: Value;
  readonly present: Value;
  readonly total: Value;
}

/** What the controller has decided, and what it saw; null where it has no such notion. */
export interface Decided {
  /** The cause as a clause for people. */
  readonly reason?: string | null;
  readonly smoothed_utilisation?: Value;
  readonly service_rate?: Value;
  /** Bytes, as are the limit, the window and the burst. */
  readonly backlog?: Value;
  readonly queue_delay?: Value;
  readonly frame_limit?: Value;
  readonly window?: Value;
  readonly pacing?: string | null;
  readonly pace_span?: Value;
  readonly pace_rate?: Value;
  readonly pace_burst?: Value;
}

/** Any field may be missing: a host can be older than the page. */
export interface Statistics {
  readonly type: "statistics";
  readonly time: number;
  readonly feedback?: string | null;
  /** Reports of arrivals that have come to the host. */
  readonly reports?: Value;
  readonly frames?: {
    readonly captured?: Value;
    readonly encoded?: Value;
    readonly skipped?: Value;
    readonly acknowledged?: Value;
    readonly shown?: Value;
    readonly keyframes?: Value;
  };
  readonly target?: Value;
  readonly bitrate?: Value;
  /** The most that the stream takes because this page asked for it. */
  readonly limit?: Value;
  readonly utilisation?: Value;
  readonly state?: string | null;
  readonly cause?: string | null;
  readonly decision?: Decided;
  /** What the stream is spared and why; null if nothing is. */
  readonly relief?: string | null;
  readonly delay?: { readonly p50?: Value; readonly p95?: Value; readonly p99?: Value };
  readonly stalls?: Value;
  readonly loss?: Value;
  readonly retransmissions?: Value;
  readonly rtt?: Value;
  readonly quantiser?: Value;
  readonly viewers?: Value;
  readonly stages?: Partial<Stages>;
  /** Null without sound. */
  readonly sound?: Sound | null;
  /** What troubles the stream most, in a sentence. */
  readonly why?: { readonly words?: string | null } | null;
  readonly point?: { readonly target?: Value; readonly delay?: Value };
}

export interface Notice {
  readonly type: "notice";
  readonly code: string;
  readonly message: string;
}

export interface FeedbackChange {
  readonly type: "feedback";
  readonly use: Feedback;
}

/** Text that was copied. */
export interface ClipboardText {
  readonly type: "clipboard";
  readonly text: string;
}

/** What a test of the line found, as far as the page shows it. */
export interface LineReport {
  readonly type: "line";
  /** In plain words, the most important first. */
  readonly words: readonly string[];
  /** From A to F. */
  readonly grade?: string | null;
}

/** Asks the host for a test of the line. */
export const TEST_LINE = JSON.stringify({ type: "test-line" });

/** Asks the host that picture and sound take at most so many bit/s; null for no limit but the host's. */
export function limitMessage(bitrate: number | null): string {
  return JSON.stringify({ type: "limit", bitrate });
}

/** Further addresses of the host, as ICE candidates. */
export interface Candidates {
  readonly type: "candidates";
  readonly candidates: readonly string[];
}

export type HostMessage =
  | Candidates
  | ClipboardText
  | Hello
  | LineReport
  | Statistics
  | Notice
  | FeedbackChange;

/** What is counted of the sound: samples of 48000 in a second, and milliseconds. Null where it is
 * not known. */
export interface ClientSound {
  readonly packets_lost: Value;
  readonly samples: Value;
  /** Made up, because nothing was there to play. */
  readonly concealed: Value;
  /** Times that samples were made up. */
  readonly gaps: Value;
  /** Put in where others were late. */
  readonly stretched: Value;
  readonly jitter_buffer: Value;
  readonly playout: Value;
  /** By how much later it is heard than the picture of the same time is seen. */
  readonly skew: Value;
}

/** What the page tells once a second. Null where the browser does not say. */
export interface Client {
  readonly type: "client";
  readonly received: Value;
  readonly decoded: Value;
  readonly dropped: Value;
  readonly freezes: Value;
  /** Milliseconds. */
  readonly freeze_duration: Value;
  readonly packets_lost: Value;
  readonly decoder: string | null;
  /** Milliseconds a frame waited, on average over the last second. */
  readonly jitter_buffer: Value;
  readonly hidden: boolean;
  /** Null without sound. */
  readonly sound: ClientSound | null;
}

/** One message of the host; `undefined` for what this page does not know. */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  if (typeof data !== "string") {
    return undefined;
  }
  let message: {
    type?: unknown;
    use?: unknown;
    time?: unknown;
    text?: unknown;
    words?: unknown;
    candidates?: unknown;
  };
  try {
    message = JSON.parse(data);
  } catch {
    return undefined;
  }
  switch (message?.type) {
    case "hello":
    case "notice":
      return message as Hello | Notice;
    case "statistics":
      return typeof message.time === "number" ? (message as Statistics) : undefined;
    case "candidates":
      return isTexts(message.candidates) ? (message as Candidates) : undefined;
    case "clipboard":
      return typeof message.text === "string" ? (message as ClipboardText) : undefined;
    case "line":
      return isTexts(message.words) ? (message as LineReport) : undefined;
    case "feedback":
      return isFeedback(message.use) ? (message as FeedbackChange) : undefined;
    default:
      return undefined;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
