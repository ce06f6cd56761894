// Plays decoded sound sample by sample, with as little in hand as its jitter allows.
//
// How long frames wait for their turn is held at what their jitter needs (`waits.ts`), by playing
// up to half a percent faster or one percent slower: nothing is left out and nothing inserted that
// could be heard.
//
// Where nothing is there, the sound goes on as it was (`extension.ts`). If the next frame is only
// late, it follows after whole periods of what was played, so that there is no seam, and the same
// lateness does no harm again. After 20 ms what goes on fades, and that is a gap.
//
// While all goes well no objects are made, which would have to be collected (`shared.ts`): numbers
// that are not known are NaN.

import { SOUND_RATE } from "./clock";
import { Extension } from "./extension";
import { FRAME } from "./intake";
import { type Arrived, KEPT } from "./shared";
import { Track } from "./track";
import { Waits } from "./waits";

/** So much comes before the first is played, to know how late frames are: 300 ms. A session's first
 * picture keeps the first half of them waiting. Chosen. */
const LISTEN = 14_400;
/** In hand when it begins anew, where that is not known: 30 ms. */
const FIRST = 1_440;
/** Less in hand than this, and what waits for a missing frame is wanted: 5 ms. */
const NEAR = 240;
/** Before there is anything to play, it is wanted when nothing has come for so long: 30 ms. */
const QUIET = 1_440;
/** So much is stretched at a time without being a gap: 20 ms. Chosen: until it fades. */
const STRETCH = 960;
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
/** So long after a halt of the loudspeaker what came meanwhile is left out at the latest: when
 * how far it has been before is forgotten. 1.5 s. */
const HALT_KNOWN = (3 * SOUND_RATE) / 2;
/** From what was made up to what is there: 2.5 ms. */
const BLEND = 120;
/** Behind a longer gap the sound begins anew: 200 ms. */
const LONGEST_GAP = 20 * FRAME;

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

export class Playout {
  readonly #tracks: readonly Track[];
  /** Samples rendered. */
  #time = 0;
  /** Of the next sample, on the frames' clock; NaN before the first. */
  #position = Number.NaN;
  #begin = 0;
  #end = 0;
  /** Of the one gap that may lie before what is there. */
  #hole = NO_HOLE;
  /** Samples made up where nothing was there. */
  #stood = 0;
  #speed = 1;
  #waits = new Waits();
  /** When a frame came last. */
  #came = Number.NEGATIVE_INFINITY;
  /** When the loudspeaker asked last, and when it last did so after a halt. */
  #asked = Number.NEGATIVE_INFINITY;
  #resumed = Number.NEGATIVE_INFINITY;
  #extension: Extension | undefined;
  /** It stands for what is lost, not for what is late. */
  #isLost = false;
  /** It has been counted. */
  #isGap = false;
  /** Samples of what is there that have been mixed with it. */
  #blended = 0;
  #counts = { played: 0, concealed: 0, stretched: 0, gaps: 0, waited: 0, frames: 0 };

  /** The samples are in `rings`, one for each channel. */
  constructor(rings: readonly Float32Array[]) {
    this.#tracks = rings.map((ring) => new Track(ring));
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The sample that is played next, on the frames' clock; undefined before the first. */
  get position(): number | undefined {
    return this.#isPlaying ? this.#position : undefined;
  }

  /** How fast it plays; 1 as it was recorded. */
  get speed(): number {
    return this.#speed;
  }

  /** There is hardly anything left. */
  get isDry(): boolean {
    return this.#isPlaying
      ? this.#end - this.#position < NEAR
      : this.#end > 0 && this.#asked - this.#came > QUIET;
  }

  get #isPlaying(): boolean {
    return !Number.isNaN(this.#position);
  }

  /** The samples of a frame have come; frames come in order. */
  insert({ at, length, isPrompt, repeats, came }: Arrived): void {
    const now = inSamples(came);
    const gap = at - this.#end;
    if (this.#end === 0 || gap > LONGEST_GAP) {
      this.#restart(at);
    } else if (gap < 0) {
      return;
    } else if (gap > 0) {
      this.#open(at);
    }
    // What has come while the loudspeaker stood still may have been there for long.
    const isAsked = now - this.#asked < FAR;
    if (!isAsked && this.#isFirst) {
      this.#begin = at;
    }
    if (isPrompt && isAsked && !this.#isEarly) {
      this.#waits.came(at, repeats, now);
      this.#count(at);
    }
    this.#end = at + length;
    this.#came = now;
    this.#stood = 0;
    if (this.#isPlaying) {
      this.#steer(now);
    } else {
      this.#position = this.#beginning();
    }
  }

  /** Nothing has been played yet. */
  get #isFirst(): boolean {
    return this.#counts.played === 0;
  }

  /** How late frames are does not tell yet how late they will be. */
  get #isEarly(): boolean {
    return this.#isFirst && this.#end - this.#begin < LISTEN / 2;
  }

  /** Where to begin to play; NaN while it is not time to. */
  #beginning(): number {
    const heard = this.#end - this.#begin;
    if (!this.#isFirst) {
      return heard >= FIRST ? this.#begin : Number.NaN;
    }
    // Of the samples rendered, none of which was to be heard.
    const excess = this.#waits.excess();
    if (heard < LISTEN || Number.isNaN(excess)) {
      return Number.NaN;
    }
    this.#waits.moved();
    return Math.max(this.#begin, Math.min(Math.round(this.#time + excess), this.#end));
  }

  /** Fills the next samples of each channel, at `now` in milliseconds. */
  render(output: readonly Float32Array[], now: number): void {
    const length = output[0]?.length ?? 0;
    let place = 0;
    while (place < length) {
      if (!this.#isPlaying) {
        this.#time += length - place;
        break;
      }
      const plain = Math.min(this.#plain(), length - place);
      if (plain > 0) {
        this.#copy(output, place, plain);
      } else {
        this.#sample(output, place);
      }
      place += Math.max(plain, 1);
    }
    this.#look(inSamples(now));
  }

  /** Remembers how far the loudspeaker is, at `now` in samples. */
  #look(now: number): void {
    const isListening = this.#isFirst && !this.#isEarly;
    if (this.#isPlaying || isListening) {
      this.#waits.taken(this.#isPlaying ? this.#position : this.#time, now);
    }
    this.#resumed = now - this.#asked > FAR ? now : this.#resumed;
    this.#asked = now;
  }

  #restart(at: number): void {
    this.#begin = at;
    this.#hole = NO_HOLE;
    this.#position = Number.NaN;
    this.#waits = new Waits();
    this.#speed = 1;
  }

  /** What is missing before `at` is made up: what is left of it, where it has been in part. */
  #open(at: number): void {
    this.#hole = { from: this.#end, to: at };
    for (const track of this.#tracks) {
      track.silence(this.#end, at - this.#end);
    }
    if (this.#isPlaying && this.#stood > 0) {
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

  /** Counts how long a frame waits. */
  #count(at: number): void {
    if (this.#isPlaying) {
      this.#counts.waited += Math.max(0, at - this.#position - this.#stood);
      this.#counts.frames += 1;
    }
  }

  /** Chooses the speed, and leaves out what is far too much, at `now` in samples. */
  #steer(now: number): void {
    if (this.#end - this.#position > KEPT - 4 * FRAME) {
      this.#jump(this.#end - FIRST, now);
      return;
    }
    const excess = this.#waits.excess();
    if (Number.isNaN(excess)) {
      return;
    }
    if (excess > FAR) {
      this.#jump(this.#position + excess, now);
      return;
    }
    const aimed = Math.max(-SLOWEST, Math.min(FASTEST, excess * GAIN));
    this.#speed = Math.abs(excess) < TOLERANCE ? 1 : 1 + aimed;
  }

  /** Goes on elsewhere. That is a gap, unless the loudspeaker has made one by a halt. */
  #jump(position: number, now: number): void {
    const isPlaying = now - this.#asked < FAR && now - this.#resumed > HALT_KNOWN;
    this.#counts.gaps += isPlaying ? 1 : 0;
    this.#extension = new Extension(this.#recent());
    this.#isLost = true;
    this.#blended = 0;
    this.#position = Math.round(position);
    this.#speed = 1;
    this.#waits.moved();
  }

  /** So many of the next samples are there, and nothing was made up before them. */
  #plain(): number {
    const position = this.#position;
    const end = position < this.#hole.to ? this.#hole.from : this.#end;
    return this.#extension ? 0 : Math.floor((end - 3 - position) / this.#speed);
  }

  /** Plays so many samples that are there. */
  #copy(output: readonly Float32Array[], place: number, count: number): void {
    for (let channel = 0; channel < this.#tracks.length; channel += 1) {
      this.#copyChannel(this.#tracks[channel], output[channel], place, count);
    }
    this.#counts.played += count;
    this.#time += count;
    this.#position += count * this.#speed;
  }

  #copyChannel(
    track: Track | undefined,
    to: Float32Array | undefined,
    place: number,
    count: number,
  ): void {
    if (!track || !to) {
      return;
    }
    for (let step = 0; step < count; step += 1) {
      const value = track.value(this.#position + step * this.#speed);
      to[place + step] = value;
      track.play(this.#time + step, value);
    }
  }

  /** Plays one sample, or makes it up. */
  #sample(output: readonly Float32Array[], place: number): void {
    const position = this.#position;
    const index = Math.floor(position);
    const inHole = index + 2 >= this.#hole.from && index < this.#hole.to + 1;
    const isLate = !inHole && index + 2 >= this.#end;
    const isThere = !inHole && !isLate && !this.#isMidPeriod();
    if (!isThere) {
      this.#make(inHole, isLate);
    }
    const extension = this.#extension;
    const share = isThere ? this.#blended / BLEND : 0;
    for (const [channel, track] of this.#tracks.entries()) {
      const to = output[channel] ?? [];
      const own = isThere ? track.value(position) : 0;
      const made = extension ? extension.value(channel) : own;
      const value = made + (own - made) * share;
      to[place] = value;
      track.play(this.#time, value);
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
    return this.#tracks.map((track) => track.recent(this.#time));
  }
}

/** Of a time in milliseconds. */
function inSamples(time: number): number {
  return (time * SOUND_RATE) / 1000;
}
