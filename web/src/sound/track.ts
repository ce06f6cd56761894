// A channel of the sound: what has come, and what was played last.

import { HISTORY } from "./extension";
import { KEPT } from "./shared";

export class Track {
  /** A ring of `KEPT` samples, by their time. */
  readonly #kept: Float32Array;
  readonly #played = new Float32Array(HISTORY);

  constructor(ring: Float32Array) {
    this.#kept = ring;
  }

  /** So many samples from `at` on will not come. */
  silence(at: number, length: number): void {
    for (let place = 0; place < length; place += 1) {
      this.#kept[(at + place) & (KEPT - 1)] = 0;
    }
  }

  /** The value at a time between two samples, by a cubic through their neighbours (Catmull and
   * Rom). */
  value(at: number): number {
    const index = Math.floor(at);
    const share = at - index;
    const b = this.#kept[index & (KEPT - 1)] ?? 0;
    if (share === 0) {
      return b;
    }
    const a = this.#kept[(index - 1) & (KEPT - 1)] ?? 0;
    const c = this.#kept[(index + 1) & (KEPT - 1)] ?? 0;
    const d = this.#kept[(index + 2) & (KEPT - 1)] ?? 0;
    const slope = (c - a) / 2;
    const next = (d - b) / 2;
    const bend = 3 * (c - b) - 2 * slope - next;
    const twist = 2 * (b - c) + slope + next;
    return b + share * (slope + share * (bend + share * twist));
  }

  /** Of all that was played, the sample with this number. */
  play(number: number, value: number): void {
    this.#played[number & (HISTORY - 1)] = value;
  }

  /** What was played before the sample with this number, the oldest first. */
  recent(number: number): Float32Array {
    // Where the next sample goes, the oldest is.
    const first = number & (HISTORY - 1);
    const recent = new Float32Array(HISTORY);
    recent.set(this.#played.subarray(first));
    recent.set(this.#played.subarray(0, first), HISTORY - first);
    return recent;
  }
}
