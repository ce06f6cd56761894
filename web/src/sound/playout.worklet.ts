// Gives the loudspeaker what `Playout` plays.

import type { Dry, Order, Progress, ToPlayout } from "./messages";
import { Playout } from "./playout";

/** https://webaudio.github.io/web-audio-api/#AudioWorkletGlobalScope, which TypeScript's library lacks. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare const currentTime: number;
declare function registerProcessor(name: string, processor: typeof Processor): void;

const CHANNELS = 2;
/** Of 2.7 ms each: the page is told ten times a second. */
const QUANTA = 38;

class Processor extends AudioWorkletProcessor {
  readonly #playout = new Playout(CHANNELS);
  #frames: MessagePort | undefined;
  /** The worker knows that nothing is left. */
  #isTold = false;
  #isOver = false;
  #quanta = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<Order>) => {
      if (data === "end") {
        this.#isOver = true;
        this.#frames?.close();
      } else {
        this.#frames = data.port;
        data.port.onmessage = (event: MessageEvent<ToPlayout>) => {
          this.#playout.insert(event.data, Date.now());
          this.#isTold = false;
        };
      }
    };
  }

  process(_inputs: unknown, [output = []]: Float32Array[][]): boolean {
    this.#playout.render(output, Date.now());
    if (this.#playout.isDry && !this.#isTold) {
      this.#isTold = true;
      this.#frames?.postMessage("dry" satisfies Dry);
    }
    this.#quanta += 1;
    const { position, counts } = this.#playout;
    if (this.#quanta % QUANTA === 0 && position !== undefined) {
      // Of the next quantum's first sample.
      const time = currentTime + (output[0]?.length ?? 0) / sampleRate;
      this.port.postMessage({ counts, position, time } satisfies Progress);
    }
    return !this.#isOver;
  }
}

declare const sampleRate: number;

registerProcessor("playout", Processor);
