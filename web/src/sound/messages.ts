// What page, worker and worklet say to each other of the sound.

import type { SoundMemory } from "./shared";

/** Page to worker. */
export type ToReceiver =
  /** The payload types of packets that repeat earlier frames. */
  { readonly redundant: readonly number[] } | ToPlayout;

/** Worker to page: sound cannot be decoded here. */
export interface FromReceiver {
  readonly failed: string;
}

/** Where decoded frames go, and the other end of the port that asks for them. */
export interface ToPlayout {
  readonly memory: SoundMemory;
  readonly port: MessagePort;
}

/** Worklet to worker: there is hardly anything left. */
export type Dry = "dry";

/** Page to worklet: where decoded frames come from, and that it is over. */
export type Order = ToPlayout | "end";
