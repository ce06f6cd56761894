// What the program itself says of a recording.

import { execFileSync } from "node:child_process";
import { BINARY } from "./host";

type Spread = Record<"p50" | "p95" | "p99" | "max", number>;

/** The part of `mimosa report --json` that tests look at. */
export interface Report {
  readonly frames: number;
  readonly seconds: number;
  readonly bitrate_mbps: number | null;
  readonly frame_delay_ms: Spread | null;
  readonly to_bitstream_ms: Spread | null;
  readonly to_last_packet_ms: Spread | null;
  readonly to_screen_ms: Spread | null;
  readonly causes: readonly { readonly cause: string; readonly frames: number }[];
  readonly encoder: { readonly quantiser: number | null } | null;
  readonly stages_ms: { readonly p50: Record<string, number> } | null;
}

export function report(recording: string | undefined): Report {
  if (!recording) {
    throw new Error("there is no recording");
  }
  return JSON.parse(execFileSync(BINARY, ["report", recording, "--json"], { encoding: "utf8" }));
}
