// An `AudioContext` with the worklet in it.

import { SOUND_RATE } from "./clock";
import type { Order, ToPlayout } from "./messages";
import type { Volume } from "./player";
import playout from "./playout.worklet.ts?worker&url";
import { type Progress, type SoundMemory, told } from "./shared";

/** Running out at so many of ten looks is too often, when the page has had some to begin. One
 * halt of the machine is many underruns at one look. Chosen. */
const TOO_OFTEN = 3;
const LOOKS = 10;
const FIRST_LOOKS = 5;

/** What is known of the sound that is played; what a loudspeaker lacked counts as made up. */
export interface Played extends Progress {
  /** When the sample at `position` is at the loudspeaker, on this page's clock. */
  readonly at: number;
  /** From the worklet to the loudspeaker, in milliseconds. */
  readonly playout: number;
}

export class Loudspeaker {
  readonly #isSafe: boolean;
  readonly #context: AudioContext;
  readonly #volume: GainNode;
  readonly #module: Promise<void>;
  #node: AudioWorkletNode | undefined;
  /** What is played; the node that plays it may have yet to be made. */
  #memory: SoundMemory | undefined;
  #told: Progress | undefined;
  /** Whether it had run out, at the last looks. */
  #looks: boolean[] = [];
  #last = 0;
  /** Underruns before there was sound. */
  #before = { events: 0, seconds: 0 };
  #age = 0;

  /** `isSafe` lets the browser choose how much it takes at a time; otherwise it is little. */
  constructor(isSafe: boolean, changed: () => void) {
    // Without being told of underruns nobody would know that it is too little.
    this.#isSafe = isSafe || !("playbackStats" in AudioContext.prototype);
    const latencyHint = this.#isSafe ? "interactive" : 0;
    this.#context = new AudioContext({ latencyHint, sampleRate: SOUND_RATE });
    this.#context.addEventListener("statechange", changed);
    this.#volume = this.#context.createGain();
    this.#volume.connect(this.#context.destination);
    this.#module = this.#context.audioWorklet.addModule(playout);
  }

  get isRunning(): boolean {
    return this.#context.state === "running";
  }

  /** The newest that is known. */
  get played(): Played | undefined {
    const progress = (this.#memory && told(this.#memory)) ?? this.#told;
    this.#told = progress;
    if (!progress || !this.isRunning) {
      return undefined;
    }
    const { contextTime = 0, performanceTime = 0 } = this.#context.getOutputTimestamp();
    const at = performanceTime + (progress.time - contextTime) * 1000;
    const rendered = performanceTime + (this.#context.currentTime - contextTime) * 1000;
    const { counts } = progress;
    const { events, seconds } = this.#underruns();
    const lacked = Math.round((seconds - this.#before.seconds) * SOUND_RATE);
    return {
      ...progress,
      counts: {
        ...counts,
        played: counts.played + lacked,
        concealed: counts.concealed + lacked,
        gaps: counts.gaps + events - this.#before.events,
      },
      at,
      playout: rendered - performance.now(),
    };
  }

  /** Plays the frames that come to this memory. */
  async play({ memory, port }: ToPlayout): Promise<void> {
    this.#memory = memory;
    this.#told = undefined;
    await this.#module;
    // It may have ended meanwhile.
    if (memory !== this.#memory) {
      return;
    }
    this.#before = this.#underruns();
    const node = new AudioWorkletNode(this.#context, "playout", {
      numberOfInputs: 0,
      outputChannelCount: [memory.rings.length],
    });
    node.port.postMessage({ memory, port } satisfies Order, [port]);
    node.connect(this.#volume);
    this.#node = node;
  }

  set({ muted, volume }: Volume): void {
    this.#volume.gain.value = muted ? 0 : volume;
  }

  /** As soon as the browser lets it. */
  resume(): void {
    quietly(this.#context.resume());
  }

  /** Looked at once a second: it runs out so often that it should take more at a time. */
  isTooFast(): boolean {
    const { events } = this.#underruns();
    this.#age += 1;
    this.#looks = [...this.#looks.slice(1 - LOOKS), this.#age > FIRST_LOOKS && events > this.#last];
    this.#last = events;
    return !this.#isSafe && this.#looks.filter((ranOut) => ranOut).length >= TOO_OFTEN;
  }

  #underruns(): { readonly events: number; readonly seconds: number } {
    const { underrunEvents = 0, underrunDuration = 0 } = this.#context.playbackStats ?? {};
    return { events: underrunEvents, seconds: underrunDuration };
  }

  end(): void {
    this.#node?.port.postMessage("end" satisfies Order);
    this.#node?.disconnect();
    this.#node = undefined;
    this.#memory = undefined;
    this.#told = undefined;
    quietly(this.#context.suspend());
  }

  close(): void {
    this.end();
    quietly(this.#context.close());
  }
}

/** What comes of it, `isRunning` says; one that is closed refuses. */
function quietly(done: Promise<void>): void {
  done.catch(() => {});
}
