// Gamepads: polled, for browsers tell of them in no other way.

import { encodeGamepad } from "./encode";

export interface GamepadHost {
  /** Whether input goes to the host. */
  active(): boolean;
  send(data: ArrayBuffer): void;
}

/** Milliseconds between two looks at the gamepads. */
const POLL = 4;
/** An unchanged state is told again after this time, should a message be lost. */
const REPEAT = 500;
/** How often it is told that a gamepad is gone, for the same reason. */
const UNPLUGGED_REPEATS = 3;
/** The protocol has room for this many. */
const LIMIT = 16;

/** The part of a `Gamepad` that is sent. */
export interface GamepadState {
  readonly buttons: readonly { readonly pressed: boolean; readonly value: number }[];
  readonly axes: readonly number[];
}

/** Buttons that are triggers in the standard mapping. */
const LEFT_TRIGGER = 6;
const RIGHT_TRIGGER = 7;

export function readGamepad(state: GamepadState) {
  let buttons = 0;
  for (const [index, button] of state.buttons.slice(0, 32).entries()) {
    if (button.pressed) {
      buttons |= 1 << index;
    }
  }
  return {
    buttons: buttons >>> 0,
    axes: [0, 1, 2, 3].map((axis) => state.axes[axis] ?? 0),
    triggers: [LEFT_TRIGGER, RIGHT_TRIGGER].map((index) => state.buttons[index]?.value ?? 0),
  };
}

type Reading = ReturnType<typeof readGamepad>;

const NEUTRAL: Reading = { buttons: 0, axes: [0, 0, 0, 0], triggers: [0, 0] };

/** One gamepad's count of messages, kept when it is unplugged, and the last one. */
class Told {
  sequence = 0;
  text = "";
  at = Number.NEGATIVE_INFINITY;
  unplugged = 0;
}

export class Gamepads {
  readonly #host: GamepadHost;
  #told = new Map<number, Told>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: GamepadHost) {
    this.#host = host;
    window.addEventListener("gamepadconnected", () => this.update());
    window.addEventListener("gamepaddisconnected", () => this.update());
  }

  /** Starts or stops the polling; to be called when playing begins or ends. */
  update(): void {
    const wanted = this.#host.active() && (this.#connected().size > 0 || this.#leaving());
    if (wanted && this.#timer === undefined) {
      this.#timer = setInterval(() => this.#poll(), POLL);
    } else if (!wanted && this.#timer !== undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#letGo();
    }
  }

  /** A new session counts from nothing. */
  reset(): void {
    this.#told = new Map();
  }

  #poll(): void {
    const now = performance.now();
    const connected = this.#connected();
    for (const [index, gamepad] of connected) {
      const told = this.#told.get(index) ?? new Told();
      this.#told.set(index, told);
      told.unplugged = 0;
      this.#tell(index, told, readGamepad(gamepad), now);
    }
    for (const [index, told] of this.#told) {
      if (connected.has(index) || told.unplugged >= UNPLUGGED_REPEATS) {
        continue;
      }
      if (told.unplugged === 0 || now - told.at >= REPEAT) {
        told.unplugged += 1;
        this.#send(index, told, NEUTRAL, now, true);
      }
    }
    if (connected.size === 0) {
      this.update();
    }
  }

  /** Whether the host may not know yet that a gamepad is gone. */
  #leaving(): boolean {
    return [...this.#told.values()].some((told) => told.unplugged < UNPLUGGED_REPEATS);
  }

  #tell(index: number, told: Told, reading: Reading, now: number): void {
    const text = JSON.stringify(reading);
    if (text !== told.text || now - told.at >= REPEAT) {
      told.text = text;
      this.#send(index, told, reading, now, false);
    }
  }

  /** Nothing stays pressed when playing stops. */
  #letGo(): void {
    const now = performance.now();
    for (const [index, told] of this.#told) {
      if (told.unplugged > 0) {
        continue;
      }
      told.text = "";
      this.#send(index, told, NEUTRAL, now, false);
    }
  }

  #send(index: number, told: Told, reading: Reading, now: number, unplugged: boolean): void {
    told.sequence = (told.sequence + 1) >>> 0;
    told.at = now;
    this.#host.send(encodeGamepad({ index, unplugged, sequence: told.sequence, ...reading }, now));
  }

  #connected(): Map<number, GamepadState> {
    const gamepads = new Map<number, GamepadState>();
    try {
      for (const gamepad of navigator.getGamepads?.() ?? []) {
        if (gamepad?.connected && gamepad.index < LIMIT) {
          gamepads.set(gamepad.index, gamepad);
        }
      }
    } catch {
      // A policy or an insecure page forbids it.
    }
    return gamepads;
  }
}
