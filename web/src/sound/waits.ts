// How long frames of sound wait for their turn, and by how much that is too long.
//
// What counts is the shortest wait of the last seconds. Packets that repeat earlier frames say
// that some are lost; a frame that is lost comes with the next packet or the one behind. So what
// nearly all frames wait is to be so much more; it is rare that a frame is lost where the others
// are late. All times are in samples.

import { SOUND_RATE } from "./clock";
import { FRAME } from "./intake";

/** The shortest wait aimed at, behind what the loudspeaker takes at a time: 3 ms. Chosen. */
export const MARGIN = 144;
/** Waits are remembered as the least of each so many samples, of which there are so many: for
 * 12 s. Chosen: longer has fewer stretches, and more delay. */
const SPAN = 3 * SOUND_RATE;
const SPANS = 4;
/** So many of a span's 300 frames may be later than nearly all. Chosen. */
const RARE = 9;
/** A loudspeaker takes samples in lumps. How far ahead it has been is remembered for so many
 * samples, 0.5 s, and for those before. */
const LUMPS = SOUND_RATE / 2;

interface Span {
  readonly from: number;
  /** Frames' times less the time when they came: the least of them, in order. */
  readonly least: number[];
  repeats: number;
}

export class Waits {
  #spans: Span[] = [];
  /** Where the loudspeaker is, less the clock's time, at most: since a time, and before it. */
  #since = Number.NEGATIVE_INFINITY;
  #ahead = Number.NEGATIVE_INFINITY;
  #before = Number.NEGATIVE_INFINITY;

  /** A frame of the time `at` has come at `now`; its packet has so many earlier ones. */
  came(at: number, repeats: number, now: number): void {
    const last = this.#spans.at(-1);
    const offset = at - now;
    if (!last || now - last.from >= SPAN) {
      const first = { from: now, least: [offset], repeats };
      this.#spans = [...this.#spans.slice(1 - SPANS), first];
      return;
    }
    last.repeats = Math.max(last.repeats, repeats);
    if (last.least.length <= RARE || offset < (last.least[RARE] ?? 0)) {
      last.least.push(offset);
      last.least.sort((a, b) => a - b);
      last.least.length = Math.min(last.least.length, RARE + 1);
    }
  }

  /** The loudspeaker has taken all before `position` by `now`. */
  taken(position: number, now: number): void {
    const ahead = position - now;
    if (now - this.#since < LUMPS) {
      this.#ahead = Math.max(this.#ahead, ahead);
    } else {
      this.#since = now;
      this.#before = this.#ahead;
      this.#ahead = ahead;
    }
  }

  /** What is played goes on elsewhere. */
  moved(): void {
    this.#since = Number.NEGATIVE_INFINITY;
    this.#ahead = Number.NEGATIVE_INFINITY;
    this.#before = Number.NEGATIVE_INFINITY;
  }

  /** By so much frames wait too long, or too short; NaN while that is not known. */
  excess(): number {
    let repeats = 0;
    let all = Number.POSITIVE_INFINITY;
    let most = Number.POSITIVE_INFINITY;
    // An iterator would be made anew for each frame.
    for (let index = 0; index < this.#spans.length; index += 1) {
      const span = this.#spans[index];
      const first = span?.least[0] ?? 0;
      repeats = Math.max(repeats, span?.repeats ?? 0);
      all = Math.min(all, first);
      most = Math.min(most, span?.least[RARE] ?? first);
    }
    const ahead = Math.max(this.#ahead, this.#before);
    const excess = Math.min(all, most - FRAME * repeats) - ahead - MARGIN;
    return Number.isFinite(excess) ? excess : Number.NaN;
  }
}
