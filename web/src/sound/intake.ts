// Frames of sound on their way to the decoder: in order, each once.
//
// A frame that is missing may still come, with the next packet that repeats it. So what is
// behind it waits, until the player has nothing left and says so.

import type { Block } from "./red";

/** Samples of a frame, and ticks of its RTP timestamp: 10 ms. */
export const FRAME = 480;
/** Behind a longer gap the sound begins anew. */
const LONGEST_GAP = 20 * FRAME;

export interface Frame {
  /** RTP timestamp, which goes on where 32 bits would begin again. */
  readonly at: number;
  readonly data: Uint8Array;
  /** It is the newest of a packet and did not have to wait: when it came tells the jitter. */
  readonly isPrompt: boolean;
  /** Earlier frames in the packet that it came with. */
  readonly repeats: number;
}

export class Intake {
  #waiting: Frame[] = [];
  #next: number | undefined;
  #newest: number | undefined;
  #isDry = false;

  /** A packet has come; the result is to be decoded, in this order. */
  packet(timestamp: number, blocks: readonly Block[]): Frame[] {
    // So far above zero that an older one has a time, too.
    const newest = this.#newest ?? 2 ** 32 + timestamp;
    const at = newest + ((timestamp - newest) | 0);
    this.#newest = Math.max(newest, at);
    if (this.#next !== undefined && at - this.#next > LONGEST_GAP) {
      this.#next = undefined;
      this.#waiting = [];
    }
    for (const { age, data } of blocks) {
      this.#insert({ at: at - age, data, isPrompt: age === 0, repeats: blocks.length - 1 });
    }
    const ready = this.#ready();
    // Of those that have waited, when they came is not known any more.
    return ready.map((frame) => ({ ...frame, isPrompt: frame.isPrompt && frame.at === at }));
  }

  /** The player has nothing left: what has waited for a missing frame waits no longer. */
  dry(): Frame[] {
    this.#isDry = true;
    return this.#ready().map((frame) => ({ ...frame, isPrompt: false }));
  }

  #insert(frame: Frame): void {
    const isPast = this.#next !== undefined && frame.at < this.#next;
    if (isPast || this.#waiting.some(({ at }) => at === frame.at)) {
      return;
    }
    this.#waiting.push(frame);
    this.#waiting.sort((a, b) => a.at - b.at);
  }

  #ready(): Frame[] {
    const ready: Frame[] = [];
    for (;;) {
      const [first] = this.#waiting;
      const next = this.#next ?? first?.at;
      if (!first || (first.at !== next && !this.#isDry)) {
        return ready;
      }
      this.#waiting.shift();
      this.#isDry = false;
      this.#next = first.at + FRAME;
      ready.push(first);
    }
  }
}
