// Mouse and pen: held by the page (pointer lock), or by their place in the picture.

import { encodeButton, type Position } from "./encode";
import type { Placed } from "./picture";
import { PointerState, wheelUnits } from "./pointer-state";

export interface PointerHost {
  /** Whether input goes to the host at all. */
  active(): boolean;
  /** Whether the page holds the pointer. */
  locked(): boolean;
  /** Where in the picture a point of the page lies. */
  place(x: number, y: number): Placed;
  /** A press on the picture; true if it was for the page, not for the host. */
  pressed(): boolean;
  send(channel: "input" | "keys", data: ArrayBuffer): void;
}

/** Movements closer together than this share a message, in milliseconds. */
const SPACING = 2;
/** The last movement is told again after this time, should its message be lost. */
const REPEAT = 50;
/** W3C has five buttons with meaning; more have no number in the protocol. */
const BUTTONS = 5;

export class Pointer {
  readonly #host: PointerHost;
  #state = new PointerState();
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #held = new Set<number>();

  constructor(stage: HTMLElement, host: PointerHost) {
    this.#host = host;
    // The raw event comes at once instead of before the next frame. Secure
    // contexts only; the other one carries the same movement, summed up.
    const move = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
    stage.addEventListener(move, (event) => this.#move(event as PointerEvent));
    stage.addEventListener("mousedown", (event) => this.#down(event));
    // On the window: a button can be let go outside of the picture.
    window.addEventListener("mouseup", (event) => this.#up(event));
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    for (const type of ["contextmenu", "auxclick", "dragstart"]) {
      stage.addEventListener(type, (event) => event.preventDefault());
    }
  }

  /** A new session counts from nothing. */
  reset(): void {
    this.#state = new PointerState();
    this.forget();
    clearTimeout(this.#timer);
  }

  /** The host has been told that every button is up. */
  forget(): void {
    this.#held.clear();
  }

  /** Moves to a place and presses or lets go: a finger used as a pointer. */
  point(position: Position, button: { readonly down: boolean } | undefined): void {
    this.#state.moveTo(position);
    if (button) {
      this.#button(0, button.down);
    } else {
      this.#changed();
    }
  }

  #move(event: PointerEvent): void {
    if (event.pointerType === "touch" || !this.#host.active()) {
      return;
    }
    this.#follow(event);
    this.#changed();
  }

  #follow(event: MouseEvent): void {
    if (!this.#host.locked()) {
      this.#state.moveTo(this.#host.place(event.clientX, event.clientY));
    } else if (event instanceof PointerEvent) {
      this.#state.moveBy({ x: event.movementX, y: event.movementY });
    } else {
      // A press has no movement of its own; the moves before it were counted.
      this.#state.lock();
    }
  }

  #down(event: MouseEvent): void {
    // Keeps the focus on the stage, which takes it explicitly.
    event.preventDefault();
    if (this.#host.pressed() || !this.#host.active() || event.button >= BUTTONS) {
      return;
    }
    if (!this.#host.locked() && !this.#host.place(event.clientX, event.clientY).inside) {
      return;
    }
    this.#follow(event);
    this.#button(event.button, true);
  }

  #up(event: MouseEvent): void {
    if (this.#held.has(event.button)) {
      event.preventDefault();
      this.#follow(event);
      this.#button(event.button, false);
    }
  }

  #wheel(event: WheelEvent): void {
    if (!this.#host.active()) {
      return;
    }
    event.preventDefault();
    this.#follow(event);
    const mode = event.deltaMode;
    this.#state.turn({
      x: wheelUnits({ delta: event.deltaX, mode, notches120: event.wheelDeltaX }),
      y: wheelUnits({ delta: event.deltaY, mode, notches120: event.wheelDeltaY }),
    });
    this.#changed();
  }

  /** A button follows the pointer's state on the same channel. */
  #button(button: number, down: boolean): void {
    if (down) {
      this.#held.add(button);
    } else {
      this.#held.delete(button);
    }
    this.#send("keys");
    this.#host.send("keys", encodeButton(button, down, performance.now()));
  }

  /** Sends at once, or as soon as the spacing allows. */
  #changed(): void {
    const wait = this.#sentAt + SPACING - performance.now();
    if (wait <= 0) {
      this.#send("input");
    } else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#send("input"), wait);
    }
  }

  #send(channel: "input" | "keys"): void {
    clearTimeout(this.#timer);
    this.#sentAt = performance.now();
    this.#host.send(channel, this.#state.encode(this.#sentAt));
    if (channel === "input") {
      this.#timer = setTimeout(() => this.#repeat(), REPEAT);
    }
  }

  #repeat(): void {
    if (this.#host.active()) {
      this.#host.send("input", this.#state.encode(performance.now()));
    }
  }
}
