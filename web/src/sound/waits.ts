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

const NOWHERE = {
  since: Number.NEGATIVE_INFINITY,
  now: Number.NEGATIVE_INFINITY,
  before: Number.NEGATIVE_INFINITY,
};

export class Waits {
  #spans: Span[] = [];
  /** Where the loudspeaker is, less the clock's time, at most. */
  #ahead = NOWHERE;

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
    const { since, now: newest, before } = this.#ahead;
    const ahead = position - now;
    this.#ahead =
      now - since < LUMPS
        ? { since, now: Math.max(newest, ahead), before }
        : { since: now, now: ahead, before: newest };
  }

  /** What is played goes on elsewhere. */
  moved(): void {
    this.#ahead = NOWHERE;
  }

  /** By so much frames wait too long, or too short; undefined while that is not known. */
  excess(): number | undefined {
    const repeated = FRAME * Math.max(...this.#spans.map(({ repeats }) => repeats));
    const all = Math.min(...this.#spans.map(({ least }) => least[0] ?? 0));
    const most = Math.min(...this.#spans.map(({ least }) => least[RARE] ?? least[0] ?? 0));
    const ahead = Math.max(this.#ahead.now, this.#ahead.before);
    const excess = Math.min(all, most - repeated) - ahead - MARGIN;
    return Number.isFinite(excess) ? excess : undefined;
  }
}
