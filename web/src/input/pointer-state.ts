// The pointer as the host is told of it: sums that survive a lost message.

import { encodePointer, type Position } from "./encode";

/** Sums of movement count in sixteenths of a pixel. */
const STEPS_PER_PIXEL = 16;
/** Sums of wheel turns count in these. */
const UNITS_PER_NOTCH = 120;
/** Pixels and lines that browsers scroll for one notch. */
const PIXELS_PER_NOTCH = 100;
const LINES_PER_NOTCH = 3;

/** One turn of a wheel along one axis, as a `WheelEvent` tells it. */
export interface Turn {
  readonly delta: number;
  /** `WheelEvent.deltaMode`: 0 pixels, 1 lines, 2 pages. */
  readonly mode: number;
  /** `WheelEvent.wheelDeltaX` or `…Y`, where the browser has them. */
  readonly notches120: number | undefined;
}

/** A turn in 1/120 notch, positive to the right and down. */
export function wheelUnits({ delta, mode, notches120 }: Turn): number {
  // A wheel with notches: exact, where pixels for a notch differ by system.
  // Touchpads report three of these units for each pixel.
  const ofWheel = mode !== 0 || Math.abs(notches120 ?? 0) < 2.5 * Math.abs(delta);
  if (notches120 && notches120 % UNITS_PER_NOTCH === 0 && ofWheel) {
    return -notches120;
  }
  const notch = mode === 0 ? PIXELS_PER_NOTCH : mode === 1 ? LINES_PER_NOTCH : 1;
  return (delta / notch) * UNITS_PER_NOTCH;
}

export class PointerState {
  #sequence = 0;
  #movement = { x: 0, y: 0 };
  #wheel = { x: 0, y: 0 };
  #position: Position | undefined;

  /** Adds a movement of the locked pointer, in pixels. */
  moveBy(movement: Position): void {
    this.#position = undefined;
    this.#movement.x += movement.x * STEPS_PER_PIXEL;
    this.#movement.y += movement.y * STEPS_PER_PIXEL;
  }

  /** Sets where in the picture the unlocked pointer is. */
  moveTo(position: Position): void {
    this.#position = { x: position.x, y: position.y };
  }

  /** From now on the pointer is locked: it has no position. */
  lock(): void {
    this.#position = undefined;
  }

  turn(units: Position): void {
    this.#wheel.x += units.x;
    this.#wheel.y += units.y;
  }

  /** The next message: each has a new sequence number. */
  encode(time: number): ArrayBuffer {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return encodePointer(
      {
        position: this.#position,
        sequence: this.#sequence,
        // Rounding the sum, not each part, keeps fractions of a pixel.
        movement: rounded(this.#movement),
        wheel: rounded(this.#wheel),
      },
      time,
    );
  }
}

function rounded(sum: Position): Position {
  return { x: Math.round(sum.x), y: Math.round(sum.y) };
}
