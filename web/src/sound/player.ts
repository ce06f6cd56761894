// Plays the sound: directly where the browser can, and otherwise by an element.

import { canPlayDirectly, DirectSound } from "./direct";
import { ElementSound } from "./element";
import type { Played } from "./loudspeaker";

export interface Volume {
  readonly muted: boolean;
  /** 0 to 1. */
  readonly volume: number;
}

export class SoundPlayer {
  readonly #element: ElementSound;
  readonly #changed: () => void;
  #direct: DirectSound | undefined;
  #isElement = !canPlayDirectly();
  #volume: Volume = { muted: false, volume: 1 };
  #track: MediaStreamTrack | undefined;

  /** `changed` is told when the browser wants a press before it plays, or has had one. */
  constructor(element: HTMLAudioElement, changed: () => void) {
    this.#element = new ElementSound(element, changed);
    this.#changed = changed;
  }

  /** The browser waits for a press. */
  get isRefused(): boolean {
    return this.#direct?.isRefused || this.#element.isRefused;
  }

  /** Whether the page plays it, not the browser. */
  get isDirect(): boolean {
    return !this.#isElement;
  }

  /** What is known of the sound that the page plays. */
  get played(): Played | undefined {
    return this.#direct?.played;
  }

  /** A connection begins, whose sound comes to this receiver. */
  take(receiver: RTCRtpReceiver): void {
    if (this.#isElement) {
      return;
    }
    this.#direct ??= new DirectSound({
      changed: this.#changed,
      failed: (why) => {
        console.warn(`Sound is left to the browser: ${why}`);
        this.#isElement = true;
        this.#direct = undefined;
        if (this.#track) {
          this.#element.begin(this.#track);
        }
      },
    });
    this.#direct.set(this.#volume);
    this.#direct.take(receiver);
  }

  /** The host has answered: these payload types repeat earlier frames. */
  understand(redundant: readonly number[]): void {
    this.#direct?.understand(redundant);
  }

  /** A second has passed. */
  look(): void {
    this.#direct?.look();
  }

  begin(track: MediaStreamTrack): void {
    this.#track = track;
    if (this.#isElement) {
      this.#element.begin(track);
    }
  }

  end(): void {
    this.#track = undefined;
    this.#direct?.end();
    this.#element.end();
  }

  set(volume: Volume): void {
    this.#volume = volume;
    this.#direct?.set(volume);
    this.#element.set(volume);
  }
}
