// Gives the loudspeaker what `Playout` plays.

import { warmUp } from "./extension";
import type { Dry, Order } from "./messages";
import { Playout } from "./playout";
import { type Arrived, type SoundMemory, take, tell } from "./shared";

/** https://webaudio.github.io/web-audio-api/#AudioWorkletGlobalScope, which TypeScript's library lacks. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare const currentTime: number;
declare function registerProcessor(name: string, processor: typeof Processor): void;

class Processor extends AudioWorkletProcessor {
  #memory: SoundMemory | undefined;
  #playout: Playout | undefined;
  #worker: MessagePort | undefined;
  readonly #frame: Arrived = { at: 0, length: 0, isPrompt: false, repeats: 0, came: 0 };
  /** The worker knows that nothing is left. */
  #isTold = false;
  #isOver = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<Order>) => {
      if (data === "end") {
        this.#isOver = true;
        this.#worker?.close();
      } else {
        this.#memory = data.memory;
        this.#playout = new Playout(data.memory.rings);
        this.#worker = data.port;
      }
    };
  }

  process(_inputs: unknown, outputs: readonly Float32Array[][]): boolean {
    const output = outputs[0];
    if (this.#memory && this.#playout && output) {
      this.#play(this.#memory, this.#playout, output);
    }
    return !this.#isOver;
  }

  #play(memory: SoundMemory, playout: Playout, output: readonly Float32Array[]): void {
    while (take(memory, this.#frame)) {
      playout.insert(this.#frame);
      this.#isTold = false;
    }
    playout.render(output, Date.now());
    if (playout.isDry && !this.#isTold) {
      this.#isTold = true;
      this.#worker?.postMessage("dry" satisfies Dry);
    }
    if (playout.position !== undefined) {
      // Of the next quantum's first sample.
      const time = currentTime + (output[0]?.length ?? 0) / sampleRate;
      tell(memory, playout.position, time, playout.counts);
    }
  }
}

declare const sampleRate: number;

warmUp();
registerProcessor("playout", Processor);
