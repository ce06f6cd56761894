// Fingers: as they are, or the first one as a pointer with a button.

import { encodeTouch, type Position, TouchPhase } from "./encode";
import type { Placed } from "./picture";

export interface TouchHost {
  active(): boolean;
  /** Whether the first finger moves the pointer instead. */
  asPointer(): boolean;
  place(x: number, y: number): Placed;
  pressed(): boolean;
  point(position: Position, button: { readonly down: boolean } | undefined): void;
  send(channel: "input" | "keys", data: ArrayBuffer): void;
}

export class Touch {
  readonly #host: TouchHost;
  /** The browser's number of a finger, to the host's: the smallest free one. */
  readonly #fingers = new Map<number, number>();
  #pointing: number | undefined;

  constructor(stage: HTMLElement, host: TouchHost) {
    this.#host = host;
    stage.addEventListener("pointerdown", (event) => this.#down(stage, event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    stage.addEventListener("pointerup", (event) => this.#end(event, TouchPhase.end));
    stage.addEventListener("pointercancel", (event) => this.#end(event, TouchPhase.cancelled));
  }

  /** The host has been told, or is a new one: no finger is down. */
  reset(): void {
    this.#fingers.clear();
    this.#pointing = undefined;
  }

  #down(stage: HTMLElement, event: PointerEvent): void {
    if (event.pointerType !== "touch") {
      return;
    }
    // No mouse events in the finger's name.
    event.preventDefault();
    if (this.#host.pressed() || !this.#host.active()) {
      return;
    }
    const place = this.#host.place(event.clientX, event.clientY);
    if (!place.inside) {
      return;
    }
    stage.setPointerCapture(event.pointerId);
    if (!this.#host.asPointer()) {
      this.#fingers.set(event.pointerId, smallestFree(this.#fingers.values()));
      this.#tell(event, TouchPhase.begin);
    } else if (this.#pointing === undefined) {
      this.#pointing = event.pointerId;
      this.#host.point(place, { down: true });
    }
  }

  #move(event: PointerEvent): void {
    if (this.#pointing === event.pointerId) {
      this.#host.point(this.#host.place(event.clientX, event.clientY), undefined);
    } else if (this.#fingers.has(event.pointerId)) {
      this.#tell(event, TouchPhase.move);
    }
  }

  #end(event: PointerEvent, phase: TouchPhase): void {
    if (this.#pointing === event.pointerId) {
      this.#pointing = undefined;
      this.#host.point(this.#host.place(event.clientX, event.clientY), { down: false });
    } else if (this.#fingers.has(event.pointerId)) {
      this.#tell(event, phase);
      this.#fingers.delete(event.pointerId);
    }
  }

  #tell(event: PointerEvent, phase: TouchPhase): void {
    const finger = this.#fingers.get(event.pointerId) ?? 0;
    const place = this.#host.place(event.clientX, event.clientY);
    // What begins must end: only moves may be lost.
    const channel = phase === TouchPhase.move ? "input" : "keys";
    this.#host.send(channel, encodeTouch(phase, finger, place, performance.now()));
  }
}

export function smallestFree(taken: Iterable<number>): number {
  const numbers = new Set(taken);
  let free = 0;
  while (numbers.has(free)) {
    free += 1;
  }
  return free;
}
