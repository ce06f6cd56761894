// What worker, worklet and page share of the sound, in memory of its own.
//
// Messages would be objects that the worklet's engine collects again and again. It does so with
// threads of the browser that wait for their turn as all others, and meanwhile a loudspeaker that
// takes 2.7 ms at a time has nothing.

import type { Counts } from "./playout";

/** Samples of a channel that are kept: a good second. A power of two. */
export const KEPT = 65_536;
/** Frames that the worklet may not have looked at: two seconds and a half. A power of two. */
const FRAMES = 256;
/** Of a frame: time, length, whether it is prompt, repeats, when it came. */
const FIELDS = 5;
/** Of progress: position, time, and the counts. */
const VALUES = 8;

/** Goes to worker and worklet as it is. */
export interface SoundMemory {
  /** A ring for each channel; a sample's place is its time modulo `KEPT`. */
  readonly rings: readonly Float32Array<SharedArrayBuffer>[];
  /** Frames put in, and frames taken out, since the beginning. */
  readonly counters: Int32Array<SharedArrayBuffer>;
  readonly frames: Float64Array<SharedArrayBuffer>;
  /** How often `progress` was written; odd while it is. */
  readonly version: Int32Array<SharedArrayBuffer>;
  readonly progress: Float64Array<SharedArrayBuffer>;
}

/** A frame whose samples are in the rings. */
export interface Arrived {
  /** RTP timestamp of its first sample, which never begins again. */
  at: number;
  /** In samples. */
  length: number;
  isPrompt: boolean;
  /** Earlier frames in the packet that it came with. */
  repeats: number;
  /** When it came, in milliseconds since 1970. */
  came: number;
}

/** How far the worklet is. */
export interface Progress {
  readonly counts: Counts;
  /** RTP timestamp of the sample that is played at `time`, which never begins again. */
  readonly position: number;
  /** On the context's clock, in seconds. */
  readonly time: number;
}

export function soundMemory(channels: number): SoundMemory {
  const { BYTES_PER_ELEMENT: small } = Float32Array;
  const { BYTES_PER_ELEMENT: large } = Float64Array;
  return {
    rings: Array.from(
      { length: channels },
      () => new Float32Array(new SharedArrayBuffer(KEPT * small)),
    ),
    counters: new Int32Array(new SharedArrayBuffer(2 * small)),
    frames: new Float64Array(new SharedArrayBuffer(FRAMES * FIELDS * large)),
    version: new Int32Array(new SharedArrayBuffer(small)),
    progress: new Float64Array(new SharedArrayBuffer(VALUES * large)),
  };
}

/** Puts a frame in, one array for each channel. One that finds no place is not there: nobody has
 * taken any for seconds. */
export function put(
  { rings, counters, frames }: SoundMemory,
  { at, isPrompt, repeats, came }: Omit<Arrived, "length">,
  channels: readonly Float32Array[],
): void {
  const length = channels[0]?.length ?? 0;
  const number = Atomics.load(counters, 0);
  if (((number - Atomics.load(counters, 1)) | 0) >= FRAMES) {
    return;
  }
  for (const [channel, ring] of rings.entries()) {
    const samples = channels[channel] ?? channels[0];
    for (let place = 0; place < length; place += 1) {
      ring[(at + place) & (KEPT - 1)] = samples?.[place] ?? 0;
    }
  }
  frames.set([at, length, isPrompt ? 1 : 0, repeats, came], (number & (FRAMES - 1)) * FIELDS);
  Atomics.store(counters, 0, (number + 1) | 0);
}

/** Takes the next frame out; false when there is none. */
export function take({ counters, frames }: SoundMemory, into: Arrived): boolean {
  const number = Atomics.load(counters, 1);
  if (number === Atomics.load(counters, 0)) {
    return false;
  }
  const first = (number & (FRAMES - 1)) * FIELDS;
  into.at = frames[first] ?? 0;
  into.length = frames[first + 1] ?? 0;
  into.isPrompt = frames[first + 2] === 1;
  into.repeats = frames[first + 3] ?? 0;
  into.came = frames[first + 4] ?? 0;
  Atomics.store(counters, 1, (number + 1) | 0);
  return true;
}

/** Tells how far the worklet is. */
export function tell(
  { version, progress }: SoundMemory,
  position: number,
  time: number,
  counts: Counts,
): void {
  Atomics.add(version, 0, 1);
  progress[0] = position;
  progress[1] = time;
  progress[2] = counts.played;
  progress[3] = counts.concealed;
  progress[4] = counts.stretched;
  progress[5] = counts.gaps;
  progress[6] = counts.waited;
  progress[7] = counts.frames;
  Atomics.add(version, 0, 1);
}

/** What was told last; undefined before the first, or where it is told right now. */
export function told({ version, progress }: SoundMemory): Progress | undefined {
  const before = Atomics.load(version, 0);
  const [position, time, played, concealed, stretched, gaps, waited, frames] = progress;
  const isWhole = before !== 0 && before % 2 === 0 && Atomics.load(version, 0) === before;
  if (!isWhole || position === undefined || time === undefined) {
    return undefined;
  }
  const counts = {
    played: played ?? 0,
    concealed: concealed ?? 0,
    stretched: stretched ?? 0,
    gaps: gaps ?? 0,
    waited: waited ?? 0,
    frames: frames ?? 0,
  };
  return { counts, position, time };
}
