// Plays the sound by an element of its own, which no picture waits for.

import type { Volume } from "./player";

export class ElementSound {
  readonly #element: HTMLAudioElement;
  readonly #refused: () => void;
  #isRefused = false;

  /** `refused` is told when the browser wants a press before it plays, or has had one. */
  constructor(element: HTMLAudioElement, refused: () => void) {
    this.#element = element;
    this.#refused = refused;
    const again = () => {
      if (this.#isRefused) {
        this.#play();
      }
    };
    window.addEventListener("pointerup", again);
    window.addEventListener("keydown", again);
  }

  /** The browser waits for a press. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  begin(track: MediaStreamTrack): void {
    // Alone in its stream: in one with the picture, a browser keeps them in step.
    this.#element.srcObject = new MediaStream([track]);
    this.#play();
  }

  end(): void {
    this.#element.srcObject = null;
    this.#setRefused(false);
  }

  set({ muted, volume }: Volume): void {
    this.#element.muted = muted;
    this.#element.volume = volume;
  }

  #play(): void {
    if (this.#element.srcObject === null) {
      return;
    }
    this.#element.play().then(
      () => this.#setRefused(false),
      (error: unknown) => {
        // A newer stream aborts this one's start, which is no refusal.
        if (error instanceof DOMException && error.name === "NotAllowedError") {
          this.#setRefused(true);
        }
      },
    );
  }

  #setRefused(isRefused: boolean): void {
    if (this.#isRefused !== isRefused) {
      this.#isRefused = isRefused;
      this.#refused();
    }
  }
}
