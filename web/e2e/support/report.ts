// What the program itself says of a recording.

import { execFileSync } from "node:child_process";
import { BINARY } from "./host";

type Spread = Record<"p50" | "p95" | "p99" | "max", number>;

/** On the wall clock, in nanoseconds since 1970, to a microsecond as a number has it. */
interface Begun {
  readonly begun_unix_ns: number;
}

/** A session's way through a link. */
export interface Joined {
  readonly link: Begun;
  readonly frames: number;
  readonly packets: number;
  readonly missing: number;
  readonly delay_ms: unknown;
  readonly beliefs: unknown;
  readonly traffic: {
    readonly seconds: number;
    readonly busy: number | null;
    readonly link_mbps: number | null;
    readonly flows: readonly {
      readonly name: string;
      readonly is_stream: boolean;
      readonly mbps: number | null;
      readonly dropped: number;
      readonly marked: number;
      readonly queue_ms: Spread | null;
    }[];
  };
}

/** The part of `mimosa report --json` that tests look at. */
export interface Report {
  readonly session: Begun;
  /** Left out where no action was made, or the page's clock is not known. */
  readonly action_to_screen_ms?: Spread;
  readonly frames: number;
  readonly seconds: number;
  readonly bitrate_mbps: number | null;
  readonly target_mbps: number | null;
  readonly utilization: number | null;
  readonly given_up: number;
  readonly lost: number;
  readonly above?: readonly { readonly ms: number; readonly share: number }[];
  readonly frame_delay_ms: Spread | null;
  readonly to_bitstream_ms: Spread | null;
  readonly to_last_packet_ms: Spread | null;
  readonly to_screen_ms: Spread | null;
  readonly causes: readonly {
    readonly cause: string;
    readonly frames: number;
    readonly share: number;
  }[];
  readonly encoder: { readonly quantiser: number | null; readonly time_ms: Spread } | null;
  readonly budget_use: { readonly mean: number; readonly max: number } | null;
  readonly sound?: {
    readonly skew_ms: Spread;
    readonly furthest_ms: number;
    readonly made_up_ms: number;
  };
  readonly stages_ms: { readonly p50: Record<string, number> } | null;
  readonly links: readonly Joined[];
}

/** Of a session, joined with a link that it went through, if one is given; with further flags. */
export function report(
  recording: string | undefined,
  link?: string,
  flags: readonly string[] = [],
): Report {
  if (!recording) {
    throw new Error("there is no recording");
  }
  const words = ["report", recording, "--json", ...(link ? ["--link", link] : []), ...flags];
  return { links: [], ...JSON.parse(execFileSync(BINARY, words, { encoding: "utf8" })) };
}

/** Draws the page of the same. */
export function drawReport(recording: string | undefined, link: string, out: string): void {
  execFileSync(BINARY, ["report", recording ?? "", "--link", link, "--output", out]);
}
