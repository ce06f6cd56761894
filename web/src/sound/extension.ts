// What sound would have gone on like: its last period again and again, after a while softer.

/** Samples that are looked at: 21 ms, and a power of two. */
export const HISTORY = 1_024;
/** Of a period: 100 to 400 hertz. */
const LONGEST = 480;
const SHORTEST = 120;
/** At full loudness: 20 ms. */
const HOLD = 960;
/** From full to nothing: 40 ms. */
const FADE = 1_920;
/** Over which the step from the last sample is made: 0.7 ms. */
const STEP = 32;

/** The sound goes on from `history`, of which each channel has `HISTORY` samples. */
export class Extension {
  readonly #history: readonly Float32Array[];
  readonly #period: number;
  #place = 0;

  constructor(history: readonly Float32Array[]) {
    this.#history = history;
    this.#period = period(history);
  }

  /** Whole periods have passed: what came next goes on without a seam. */
  get isWhole(): boolean {
    return this.#place % this.#period === 0;
  }

  /** Samples passed. */
  get place(): number {
    return this.#place;
  }

  /** The next sample of a channel. */
  value(channel: number): number {
    const place = this.#place;
    const samples = this.#history[channel];
    const loudness = Math.min(1, 1 - (place - HOLD) / FADE);
    if (!samples || loudness <= 0) {
      return 0;
    }
    const first = HISTORY - this.#period;
    const own = samples[first + (place % this.#period)] ?? 0;
    const step = (samples[HISTORY - 1] ?? 0) - (samples[first - 1] ?? 0);
    const smooth = place < STEP ? own + step * (1 - (place + 1) / STEP) : own;
    return smooth * loudness;
  }

  /** One sample has passed. */
  pass(): void {
    this.#place += 1;
  }
}

/** Has the engine make it quick: the first time takes longer than a loudspeaker waits. */
export function warmUp(): void {
  for (let times = 0; times < 3; times += 1) {
    period([new Float32Array(HISTORY)]);
  }
}

/** The shift by which the sound is most like itself, in samples. */
function period(history: readonly Float32Array[]): number {
  const sum = new Float32Array(HISTORY);
  for (const samples of history) {
    for (const [place, sample] of samples.entries()) {
      sum[place] = (sum[place] ?? 0) + sample;
    }
  }
  let best = SHORTEST;
  let most = Number.NEGATIVE_INFINITY;
  for (let shift = SHORTEST; shift <= LONGEST; shift += 1) {
    let product = 0;
    let energy = 1e-9;
    // Every second sample tells enough.
    for (let place = HISTORY - LONGEST; place < HISTORY; place += 2) {
      const before = sum[place - shift] ?? 0;
      product += (sum[place] ?? 0) * before;
      energy += before * before;
    }
    const likeness = product / Math.sqrt(energy);
    if (likeness > most) {
      [best, most] = [shift, likeness];
    }
  }
  return best;
}
