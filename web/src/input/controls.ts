// Who has mouse and keyboard: the game or the page.
//
// Keys go to the game while the stage has the focus. Losing pointer lock (Esc)
// frees the pointer only: keys stay with the game until the page is left, a
// control is used or Ctrl+Alt+Shift+Z is pressed.

import type { Session } from "../session/session";
import type { Settings } from "../settings";
import { SharedClipboard } from "./clipboard";
import { Gamepads } from "./gamepad";
import { Keyboard } from "./keyboard";
import { type Placed, pictureArea, placeIn } from "./picture";
import { Pointer } from "./pointer";
import { composes, TextField } from "./text";
import { Touch } from "./touch";

export interface ControlsListener {
  /** Who has mouse and keyboard is another. */
  changed(): void;
  hint(text: string): void;
  combination(code: string): boolean;
}

export class Controls {
  readonly #stage: HTMLElement;
  readonly #video: HTMLVideoElement;
  readonly #settings: Settings;
  readonly #session: () => Session;
  readonly #listener: ControlsListener;
  readonly #pointer: Pointer;
  readonly #keyboard: Keyboard;
  readonly #touch: Touch;
  readonly #gamepads: Gamepads;
  readonly #text: TextField;
  readonly #field: HTMLTextAreaElement;
  readonly #clipboard: SharedClipboard;
  /** The present session's host has been asked for what was copied before. */
  #offered = false;
  /** The browser will not hold the pointer here: its position is sent. */
  #lockImpossible: boolean;

  constructor(
    stage: HTMLElement,
    field: HTMLTextAreaElement,
    video: HTMLVideoElement,
    settings: Settings,
    session: () => Session,
    listener: ControlsListener,
  ) {
    this.#stage = stage;
    this.#field = field;
    this.#video = video;
    this.#settings = settings;
    this.#session = session;
    this.#listener = listener;
    this.#lockImpossible = !("requestPointerLock" in stage);
    const send = (channel: "input" | "keys", data: ArrayBuffer) => session().send(channel, data);
    const active = () => this.taken;
    const place = (x: number, y: number) => this.#place(x, y);
    this.#pointer = new Pointer(stage, {
      active,
      place,
      send,
      locked: () => this.locked,
      pressed: () => this.#pressed(true),
    });
    this.#touch = new Touch(stage, {
      active,
      place,
      send,
      asPointer: () => settings.touchAsPointer,
      point: (position, button) => this.#pointer.point(position, button),
      pressed: () => this.#pressed(false),
    });
    this.#keyboard = new Keyboard(
      {
        active,
        send: (data) => send("keys", data),
        composes: (event) => document.activeElement === field && composes(event),
        combination: (code) => listener.combination(code),
      },
      /Mac|iPhone|iPad/.test(navigator.userAgent),
    );
    this.#gamepads = new Gamepads({
      active: () => this.#playing && !document.hidden,
      send: (data) => send("input", data),
    });
    this.#text = new TextField(field, { active, send: (data) => send("keys", data) });
    this.#clipboard = new SharedClipboard({
      active: () => this.taken && this.#session().hello?.clipboard === true,
      send: (message) => session().tell(message),
      hint: (text) => listener.hint(text),
    });
    this.#listen();
  }

  /** Whether keys and pointer go to the game. */
  get taken(): boolean {
    const focused = document.activeElement;
    const ours = focused === this.#stage || focused === this.#field;
    return this.#playing && document.hasFocus() && ours;
  }

  /** Whether the page holds the pointer. */
  get locked(): boolean {
    return document.pointerLockElement === this.#stage;
  }

  /** Gives mouse and keyboard to the game; needs a press or key of the person. */
  take(): void {
    this.#focus();
    if (this.#settings.holdPointer && !this.locked && matchMedia("(any-pointer: fine)").matches) {
      void this.#lock();
    }
    this.#listener.changed();
  }

  /** Gives mouse and keyboard back to the page. */
  release(): void {
    this.#giveUp();
    this.#listener.changed();
  }

  /** A new session counts from nothing. */
  reset(): void {
    this.#pointer.reset();
    this.#keyboard.reset();
    this.#touch.reset();
    this.#gamepads.reset();
    this.#clipboard.reset();
    this.#offered = false;
  }

  /** A program at the host has copied this text. */
  copied(text: string): void {
    void this.#clipboard.copied(text);
  }

  /** To be called when playing begins or ends. */
  update(): void {
    this.#gamepads.update();
    if (!this.#offered && this.taken && this.#session().hello) {
      this.#offered = true;
      void this.#clipboard.read(true);
    }
    // The card has something to press, which a held pointer could not reach.
    if (!this.#session().running || this.#session().problem) {
      this.#giveUp();
    }
  }

  get #playing(): boolean {
    return this.#session().state === "playing";
  }

  #listen(): void {
    window.addEventListener("keydown", (event) => this.#keyboard.down(event), { capture: true });
    window.addEventListener("keyup", (event) => this.#keyboard.up(event), { capture: true });
    window.addEventListener("blur", () => this.#letGo());
    window.addEventListener("focus", () => {
      // What waits is written first, or older text would be read and told.
      void this.#clipboard.write().then(() => this.#clipboard.read(false));
      this.#listener.changed();
    });
    for (const type of ["keydown", "pointerdown"]) {
      window.addEventListener(type, () => void this.#clipboard.write(), { capture: true });
    }
    for (const element of [this.#stage, this.#field]) {
      element.addEventListener("blur", () => this.#letGo());
    }
    document.addEventListener("visibilitychange", () => {
      this.#gamepads.update();
      if (document.hidden) {
        this.#letGo();
      }
    });
    document.addEventListener("pointerlockchange", () => {
      if (!this.locked && this.taken) {
        this.#listener.hint(
          "The pointer is free, keys still go to the game. Click the picture to go on.",
        );
      }
      this.#listener.changed();
    });
    document.addEventListener("fullscreenchange", () => {
      // With it Esc and the system's keys reach the game; holding Esc leaves.
      if (document.fullscreenElement) {
        navigator.keyboard?.lock().catch(() => {});
      } else {
        navigator.keyboard?.unlock();
      }
      this.#listener.changed();
    });
  }

  /** A press on the picture; true if it served to take the controls. */
  #pressed(mouse: boolean): boolean {
    if (!this.#playing) {
      return true;
    }
    const had = this.taken;
    if (!had) {
      this.#focus();
      void this.#clipboard.read(true);
      this.#listener.changed();
    }
    if (mouse && this.#settings.holdPointer && !this.locked && !this.#lockImpossible) {
      void this.#lock();
      return true;
    }
    return !had;
  }

  async #lock(): Promise<void> {
    const unadjustedMovement = this.#settings.rawMovement;
    try {
      await this.#stage.requestPointerLock({ unadjustedMovement });
    } catch (error) {
      const name = error instanceof DOMException ? error.name : "";
      if (name === "NotSupportedError" && unadjustedMovement) {
        // Not every system has raw movement.
        await this.#stage.requestPointerLock().catch(() => this.#lockRefused(name));
      } else {
        this.#lockRefused(name);
      }
    }
  }

  #lockRefused(name: string): void {
    if (name === "SecurityError" || name === "NotSupportedError") {
      this.#lockImpossible = true;
      this.#listener.hint("The browser does not hold the pointer here: its position is sent.");
    } else {
      // Browsers want a pause between Esc and the next hold.
      this.#listener.hint("The browser did not hold the pointer. Click the picture again.");
    }
  }

  #giveUp(): void {
    if (this.locked) {
      document.exitPointerLock();
    }
    this.#stage.blur();
    this.#field.blur();
  }

  /** Where text is composed, a field has to have the focus. */
  #focus(): void {
    if (this.#settings.typeText) {
      this.#text.focus();
    } else {
      this.#stage.focus({ preventScroll: true });
    }
  }

  /** Nothing stays pressed at the host once the page stops hearing of it. */
  #letGo(): void {
    if (this.#playing) {
      this.#keyboard.releaseAll();
    }
    this.#pointer.forget();
    this.#touch.reset();
    this.#listener.changed();
  }

  #place(x: number, y: number): Placed {
    const { videoWidth: width, videoHeight: height } = this.#video;
    return placeIn(pictureArea(this.#video.getBoundingClientRect(), { width, height }), x, y);
  }
}
