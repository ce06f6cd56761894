// What page, worker and worklet say to each other of the sound.

import type { Counts, Decoded } from "./playout";

/** Page to worker. */
export type ToReceiver =
  /** The payload types of packets that repeat earlier frames. */
  | { readonly redundant: readonly number[] }
  /** Where decoded frames go. */
  | { readonly port: MessagePort };

/** Worker to page: sound cannot be decoded here. */
export interface FromReceiver {
  readonly failed: string;
}

/** Worker to worklet. */
export type ToPlayout = Decoded;

/** Worklet to worker: there is hardly anything left. */
export type Dry = "dry";

/** Page to worklet: where decoded frames come from, and that it is over. */
export type Order = { readonly port: MessagePort } | "end";

/** Worklet to page, some times a second. */
export interface Progress {
  readonly counts: Counts;
  /** RTP timestamp of the sample that is played at `time`, which never begins again. */
  readonly position: number;
  /** On the context's clock, in seconds. */
  readonly time: number;
}
