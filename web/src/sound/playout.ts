// Plays decoded sound sample by sample, with as little in hand as its jitter allows.
//
// What counts is how long frames wait for their turn. The shortest wait of the last seconds is
// held at a margin, by playing up to half a percent faster or one percent slower: nothing is
// left out and nothing inserted that could be heard. Packets that repeat earlier frames say that
// some are lost; a frame that is lost comes with the next packet or the one behind. So what
// nearly all frames wait is held at so much more; it is rare that a frame is lost where the
// others are late.
//
// Where nothing is there, the sound goes on as it was (`extension.ts`). If the next frame is only
// late, it follows after whole periods of what was played, so that there is no seam, and the same
// lateness does no harm again. After 20 ms what goes on fades, and that is a gap.

import { SOUND_RATE } from "./clock";
import { Extension, HISTORY } from "./extension";
import { FRAME } from "./intake";

/** Samples that are kept: a good second. A power of two. */
const KEPT = 65_536;
/** In hand before the first is played: 30 ms. */
const FIRST = 1_440;
/** The shortest wait aimed at, behind what the loudspeaker takes at a time: 3 ms. Chosen. */
export const MARGIN = 144;
/** Less in hand than this, and what waits for a missing frame is wanted: 5 ms. */
const NEAR = 240;
/** Waits are remembered as the least of each so many samples, of which there are so many: for
 * 12 s. Chosen: longer has fewer stretches, and more delay. */
const SPAN = 3 * SOUND_RATE;
const SPANS = 4;
/** So much is stretched at a time without being a gap: 20 ms. Chosen: until it fades. */
const STRETCH = 960;
/** So many of a span's 300 frames may be later than nearly all. Chosen. */
const RARE = 9;
/** A wait so near to the margin is left alone: 1 ms. */
const TOLERANCE = 48;
/** Of the speed, for each sample too many: gone in a second, but for the bounds. */
const GAIN = 1 / SOUND_RATE;
/** 9 cents of a semitone. */
const FASTEST = 0.005;
/** 17 cents: what is too little is heard sooner than what is too much. */
const SLOWEST = 0.01;
/** Many more samples than needed, as a loudspeaker leaves that stood still, go at once: 50 ms.
 * Chosen: played faster they would be late for ten seconds. */
const FAR = 2_400;
/** A loudspeaker takes samples in lumps. How far ahead it has been is remembered for so many
 * milliseconds, and for those before. */
const LUMPS = 500;
/** From what was made up to what is there: 2.5 ms. */
const BLEND = 120;
/** Behind a longer gap the sound begins anew: 200 ms. */
const LONGEST_GAP = 20 * FRAME;

/** A decoded frame. */
export interface Decoded {
  /** RTP timestamp of its first sample, which never begins again. */
  readonly at: number;
  /** One array for each channel. */
  readonly channels: readonly Float32Array[];
  readonly isPrompt: boolean;
  readonly repeats: number;
}

/** What has become of the sound, in samples. */
export interface Counts {
  readonly played: number;
  /** Made up, because they were lost or late for long. */
  readonly concealed: number;
  /** Put in, because others were late. */
  readonly stretched: number;
  /** Times that samples were made up. */
  readonly gaps: number;
  /** Of frames, how long they waited altogether, and how many. */
  readonly waited: number;
  readonly frames: number;
}

const NO_HOLE = { from: 0, to: 0 };

interface Span {
  readonly from: number;
  /** Frames' times less the time when they came: the least of them, in order. */
  readonly least: number[];
  repeats: number;
}

const NOWHERE = {
  since: 0,
  now: Number.NEGATIVE_INFINITY,
  before: Number.NEGATIVE_INFINITY,
};

export class Playout {
  readonly #samples: readonly Float32Array[];
  readonly #history: readonly Float32Array[];
  /** Samples rendered. */
  #time = 0;
  /** Of the next sample, on the frames' clock. */
  #position: number | undefined;
  #begin = 0;
  #end = 0;
  /** Of the one gap that may lie before what is there. */
  #hole = NO_HOLE;
  /** Samples made up where nothing was there. */
  #stood = 0;
  #speed = 1;
  #spans: Span[] = [];
  /** Position less the clock's time, at most. */
  #ahead = NOWHERE;
  #extension: Extension | undefined;
  /** It stands for what is lost, not for what is late. */
  #isLost = false;
  /** It has been counted. */
  #isGap = false;
  /** Samples of what is there that have been mixed with it. */
  #blended = 0;
  #counts = { played: 0, concealed: 0, stretched: 0, gaps: 0, waited: 0, frames: 0 };

  constructor(channels: number) {
    this.#samples = Array.from({ length: channels }, () => new Float32Array(KEPT));
    this.#history = Array.from({ length: channels }, () => new Float32Array(HISTORY));
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The sample that is played next, on the frames' clock; undefined before the first. */
  get position(): number | undefined {
    return this.#position;
  }

  /** How fast it plays; 1 as it was recorded. */
  get speed(): number {
    return this.#speed;
  }

  /** There is hardly anything left. */
  get isDry(): boolean {
    return this.#position !== undefined && this.#end - this.#position < NEAR;
  }

  /** A frame has been decoded, at `now` in milliseconds; they come in order. */
  insert({ at, channels, isPrompt, repeats }: Decoded, now: number): void {
    const length = channels[0]?.length ?? 0;
    const gap = at - this.#end;
    if (this.#end === 0 || gap > LONGEST_GAP) {
      this.#restart(at);
    } else if (gap < 0) {
      return;
    } else if (gap > 0) {
      this.#open(at);
    }
    if (isPrompt) {
      this.#came(at, repeats, inSamples(now));
    }
    for (const [channel, kept] of this.#samples.entries()) {
      const from = channels[channel] ?? channels[0];
      for (let place = 0; place < length; place += 1) {
        kept[(at + place) & (KEPT - 1)] = from?.[place] ?? 0;
      }
    }
    this.#end = at + length;
    this.#stood = 0;
    if (this.#position === undefined) {
      this.#position = this.#end - this.#begin >= FIRST ? this.#begin : undefined;
    }
    this.#steer();
  }

  /** Fills the next samples of each channel, at `now` in milliseconds. */
  render(output: readonly Float32Array[], now: number): void {
    const length = output[0]?.length ?? 0;
    let place = 0;
    while (place < length) {
      const position = this.#position;
      if (position === undefined) {
        this.#time += length - place;
        return;
      }
      const plain = Math.min(this.#plain(position), length - place);
      if (plain > 0) {
        this.#copy(output, place, position, plain);
      } else {
        this.#sample(output, place, position);
      }
      place += Math.max(plain, 1);
    }
    this.#look(now);
  }

  /** Remembers how far the loudspeaker is. */
  #look(now: number): void {
    const { since, now: newest, before } = this.#ahead;
    const ahead = (this.#position ?? Number.NEGATIVE_INFINITY) - inSamples(now);
    this.#ahead =
      now - since < LUMPS
        ? { since, now: Math.max(newest, ahead), before }
        : { since: now, now: ahead, before: newest };
  }

  #restart(at: number): void {
    this.#begin = at;
    this.#hole = NO_HOLE;
    this.#position = undefined;
    this.#spans = [];
    this.#ahead = NOWHERE;
    this.#speed = 1;
  }

  /** What is missing before `at` is made up: what is left of it, where it has been in part. */
  #open(at: number): void {
    this.#hole = { from: this.#end, to: at };
    for (const kept of this.#samples) {
      for (let place = this.#end; place < at; place += 1) {
        kept[place & (KEPT - 1)] = 0;
      }
    }
    if (this.#position !== undefined && this.#stood > 0) {
      this.#position = Math.min(at, this.#position + this.#stood);
      // It was not late after all.
      const made = Math.min(this.#stood, STRETCH);
      this.#counts.stretched -= made;
      this.#counts.concealed += made;
      this.#counts.gaps += this.#isGap ? 0 : 1;
      this.#isGap = true;
      this.#stood = 0;
    }
  }

  /** Remembers when a frame came. */
  #came(at: number, repeats: number, now: number): void {
    const last = this.#spans.at(-1);
    const offset = at - now;
    if (!last || now - last.from >= SPAN) {
      const first = { from: now, least: [offset], repeats };
      this.#spans = [...this.#spans.slice(1 - SPANS), first];
    } else {
      last.repeats = Math.max(last.repeats, repeats);
      if (last.least.length <= RARE || offset < (last.least[RARE] ?? 0)) {
        last.least.push(offset);
        last.least.sort((a, b) => a - b);
        last.least.length = Math.min(last.least.length, RARE + 1);
      }
    }
    if (this.#position !== undefined) {
      this.#counts.waited += Math.max(0, at - this.#position - this.#stood);
      this.#counts.frames += 1;
    }
  }

  /** Chooses the speed, and leaves out what is far too much. */
  #steer(): void {
    if (this.#position === undefined || this.#spans.length === 0) {
      return;
    }
    if (this.#end - this.#position > KEPT - 4 * FRAME) {
      this.#jump(this.#end - FIRST);
      return;
    }
    const repeated = FRAME * Math.max(...this.#spans.map(({ repeats }) => repeats));
    const all = Math.min(...this.#spans.map(({ least }) => least[0] ?? 0));
    const most = Math.min(...this.#spans.map(({ least }) => least[RARE] ?? least[0] ?? 0));
    const ahead = Math.max(this.#ahead.now, this.#ahead.before);
    const excess = Math.min(all, most - repeated) - ahead - MARGIN;
    if (!Number.isFinite(excess)) {
      return;
    }
    if (excess > FAR) {
      this.#jump(this.#position + excess);
      return;
    }
    const aimed = Math.max(-SLOWEST, Math.min(FASTEST, excess * GAIN));
    this.#speed = Math.abs(excess) < TOLERANCE ? 1 : 1 + aimed;
  }

  #jump(position: number): void {
    this.#extension = new Extension(this.#recent());
    this.#isLost = true;
    this.#blended = 0;
    this.#position = Math.round(position);
    this.#speed = 1;
    this.#ahead = NOWHERE;
  }

  /** So many samples from `position` are there, and nothing was made up before them. */
  #plain(position: number): number {
    const end = position < this.#hole.to ? this.#hole.from : this.#end;
    return this.#extension ? 0 : Math.floor((end - 3 - position) / this.#speed);
  }

  /** Plays so many samples that are there. */
  #copy(output: readonly Float32Array[], place: number, position: number, count: number): void {
    for (let channel = 0; channel < this.#samples.length; channel += 1) {
      const [samples, history, to] = [
        this.#samples[channel],
        this.#history[channel],
        output[channel],
      ];
      if (!(samples && history && to)) {
        continue;
      }
      for (let step = 0; step < count; step += 1) {
        const at = position + step * this.#speed;
        const index = Math.floor(at);
        const value = between(samples, index, at - index);
        to[place + step] = value;
        history[(this.#time + step) & (HISTORY - 1)] = value;
      }
    }
    this.#counts.played += count;
    this.#time += count;
    this.#position = position + count * this.#speed;
  }

  /** Plays one sample, or makes it up. */
  #sample(output: readonly Float32Array[], place: number, position: number): void {
    const index = Math.floor(position);
    const inHole = index + 2 >= this.#hole.from && index < this.#hole.to + 1;
    const isLate = !inHole && index + 2 >= this.#end;
    const isThere = !inHole && !isLate && !this.#isMidPeriod();
    if (!isThere) {
      this.#make(inHole, isLate);
    }
    const extension = this.#extension;
    const share = isThere ? this.#blended / BLEND : 0;
    for (let channel = 0; channel < this.#samples.length; channel += 1) {
      const [samples, history, to] = [
        this.#samples[channel],
        this.#history[channel],
        output[channel],
      ];
      if (!(samples && history && to)) {
        continue;
      }
      const own = isThere ? between(samples, index, position - index) : 0;
      const made = extension ? extension.value(channel) : own;
      const value = made + (own - made) * share;
      to[place] = value;
      history[this.#time & (HISTORY - 1)] = value;
    }
    extension?.pass();
    this.#counts.played += 1;
    this.#time += 1;
    if (isThere) {
      this.#position = position + this.#speed;
      this.#blend();
    } else if (inHole) {
      this.#position = position + 1;
    } else if (isLate) {
      this.#stood += 1;
    }
  }

  /** What is late has come, but what stands for it has not come to the end of a period. */
  #isMidPeriod(): boolean {
    const isLate = this.#extension !== undefined && !this.#isLost && this.#blended === 0;
    return isLate && !this.#extension?.isWhole;
  }

  /** A sample is made up. */
  #make(inHole: boolean, isLate: boolean): void {
    if (!this.#extension || this.#blended > 0) {
      this.#extension = new Extension(this.#recent());
      this.#blended = 0;
      this.#isGap = false;
    }
    this.#isLost = inHole;
    if (!inHole && !(isLate && this.#extension.place >= STRETCH)) {
      this.#counts.stretched += 1;
      return;
    }
    this.#counts.concealed += 1;
    this.#counts.gaps += this.#isGap ? 0 : 1;
    this.#isGap = true;
    if (isLate && this.#stood > LONGEST_GAP) {
      // What comes now begins anew.
      this.#restart(0);
      this.#end = 0;
      this.#extension = undefined;
    }
  }

  #blend(): void {
    if (this.#extension) {
      this.#blended += 1;
      if (this.#blended >= BLEND) {
        this.#extension = undefined;
        this.#blended = 0;
      }
    }
  }

  /** What was played last, the oldest first. */
  #recent(): Float32Array[] {
    return this.#history.map((samples) => {
      // Where the next sample goes, the oldest is.
      const first = this.#time & (HISTORY - 1);
      const recent = new Float32Array(HISTORY);
      recent.set(samples.subarray(first));
      recent.set(samples.subarray(0, first), HISTORY - first);
      return recent;
    });
  }
}

/** Of a time in milliseconds. */
function inSamples(time: number): number {
  return (time * SOUND_RATE) / 1000;
}

/** The value between two samples, by a cubic through their neighbours (Catmull and Rom). */
function between(samples: Float32Array, index: number, share: number): number {
  const b = samples[index & (KEPT - 1)] ?? 0;
  if (share === 0) {
    return b;
  }
  const a = samples[(index - 1) & (KEPT - 1)] ?? 0;
  const c = samples[(index + 1) & (KEPT - 1)] ?? 0;
  const d = samples[(index + 2) & (KEPT - 1)] ?? 0;
  const slope = (c - a) / 2;
  const next = (d - b) / 2;
  const bend = 3 * (c - b) - 2 * slope - next;
  const twist = 2 * (b - c) + slope + next;
  return b + share * (slope + share * (bend + share * twist));
}
