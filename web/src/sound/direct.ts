// Plays the sound past the browser's jitter buffer, which holds it for longer than it has to.
//
// The connection hands its packets to a worker, the worker decodes them, and a worklet plays
// them (`playout.ts`).

import { Loudspeaker, type Played } from "./loudspeaker";
import type { FromReceiver, ToReceiver } from "./messages";
import type { Volume } from "./player";
import type { Counts } from "./playout";
import { soundMemory } from "./shared";

const CHANNELS = 2;

/** Whether this browser, at this address, has what it needs. */
export function canPlayDirectly(): boolean {
  const parts = ["RTCRtpScriptTransform", "AudioDecoder", "AudioWorkletNode"];
  // Without the last it has no memory to share.
  return parts.every((part) => part in window) && window.crossOriginIsolated;
}

const NOTHING: Counts = {
  played: 0,
  concealed: 0,
  stretched: 0,
  gaps: 0,
  waited: 0,
  frames: 0,
};

interface Listener {
  /** It plays now, or the browser wants a press first. */
  changed(): void;
  /** It cannot be done after all. */
  failed(why: string): void;
}

export class DirectSound {
  readonly #listener: Listener;
  #loudspeaker: Loudspeaker;
  #volume: Volume = { muted: false, volume: 1 };
  #receiver: RTCRtpReceiver | undefined;
  #worker: Worker | undefined;
  /** What has become of this session's sound at an earlier loudspeaker. */
  #before = NOTHING;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#loudspeaker = new Loudspeaker(false, listener.changed);
    const again = () => {
      if (this.isRefused) {
        this.#loudspeaker.resume();
      }
    };
    window.addEventListener("pointerup", again);
    window.addEventListener("keydown", again);
  }

  /** There is sound, and the browser waits for a press. */
  get isRefused(): boolean {
    return this.#receiver !== undefined && !this.#loudspeaker.isRunning;
  }

  /** The newest that is known. */
  get played(): Played | undefined {
    const played = this.#loudspeaker.played;
    return played && { ...played, counts: sum(this.#before, played.counts) };
  }

  /** Takes what comes for this receiver, from its first packet on. */
  take(receiver: RTCRtpReceiver): void {
    this.end();
    const worker = new Worker(new URL("./receive.worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<FromReceiver>) => {
      this.#fail(worker, data.failed);
    });
    worker.addEventListener("error", ({ message }) => this.#fail(worker, message));
    this.#receiver = receiver;
    this.#worker = worker;
    receiver.transform = new RTCRtpScriptTransform(worker);
    this.#play(worker);
  }

  /** The payload types of packets that repeat earlier frames, as the host's answer says. */
  understand(redundant: readonly number[]): void {
    this.#worker?.postMessage({ redundant } satisfies ToReceiver);
  }

  set(volume: Volume): void {
    this.#volume = volume;
    this.#loudspeaker.set(volume);
  }

  /** A second has passed: a loudspeaker that has run out too often gets more at a time. */
  look(): void {
    if (this.#worker && this.#loudspeaker.isTooFast()) {
      this.#before = this.played?.counts ?? this.#before;
      this.#loudspeaker.close();
      this.#loudspeaker = new Loudspeaker(true, this.#listener.changed);
      this.#loudspeaker.set(this.#volume);
      this.#play(this.#worker);
    }
  }

  end(): void {
    this.#loudspeaker.end();
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#receiver = undefined;
    this.#before = NOTHING;
  }

  #play(worker: Worker): void {
    const { port1, port2 } = new MessageChannel();
    const memory = soundMemory(CHANNELS);
    worker.postMessage({ memory, port: port1 } satisfies ToReceiver, [port1]);
    this.#loudspeaker.resume();
    this.#loudspeaker
      .play({ memory, port: port2 })
      .catch((error: unknown) => this.#fail(worker, String(error)));
  }

  #fail(worker: Worker, why: string): void {
    const receiver = this.#receiver;
    if (worker === this.#worker && receiver) {
      this.end();
      this.#loudspeaker.close();
      receiver.transform = null;
      this.#listener.failed(why);
    }
  }
}

function sum(before: Counts, now: Counts): Counts {
  return {
    played: before.played + now.played,
    concealed: before.concealed + now.concealed,
    stretched: before.stretched + now.stretched,
    gaps: before.gaps + now.gaps,
    waited: before.waited + now.waited,
    frames: before.frames + now.frames,
  };
}
