// The binary messages of input, byte by byte as docs/embed/protocol.md has them.

const POINTER = 1;
const GAMEPAD = 2;
const KEY = 16;
const BUTTON = 17;
const RELEASE_ALL = 18;
const TOUCH = 19;
const CHARACTER = 20;

const LITTLE_ENDIAN = true;
const UNPLUGGED = 0x80;

/** A place in the picture: 0 to 65535 from left to right and top to bottom. */
export interface Position {
  readonly x: number;
  readonly y: number;
}

export interface PointerMessage {
  /** Absent while the pointer is locked. */
  readonly position: Position | undefined;
  readonly sequence: number;
  /** Sums since the session's start, in 1/16 pixel. */
  readonly movement: Position;
  /** Sums since the session's start, in 1/120 notch. */
  readonly wheel: Position;
}

export interface GamepadMessage {
  readonly index: number;
  readonly unplugged: boolean;
  readonly sequence: number;
  /** Bit by bit as in the W3C standard mapping. */
  readonly buttons: number;
  /** -1 to 1: left x, y, right x, y. */
  readonly axes: readonly number[];
  /** 0 to 1: left, right. */
  readonly triggers: readonly number[];
}

export const TouchPhase = { begin: 0, move: 1, end: 2, cancelled: 3 } as const;
export type TouchPhase = (typeof TouchPhase)[keyof typeof TouchPhase];

export function encodePointer(message: PointerMessage, time: number): ArrayBuffer {
  const view = begin(34, POINTER);
  if (message.position) {
    view.setUint8(1, 1);
    view.setUint16(2, message.position.x, LITTLE_ENDIAN);
    view.setUint16(4, message.position.y, LITTLE_ENDIAN);
  }
  view.setUint32(6, message.sequence, LITTLE_ENDIAN);
  view.setInt32(10, message.movement.x, LITTLE_ENDIAN);
  view.setInt32(14, message.movement.y, LITTLE_ENDIAN);
  view.setInt32(18, message.wheel.x, LITTLE_ENDIAN);
  view.setInt32(22, message.wheel.y, LITTLE_ENDIAN);
  view.setFloat64(26, time, LITTLE_ENDIAN);
  return view.buffer;
}

export function encodeGamepad(message: GamepadMessage, time: number): ArrayBuffer {
  const view = begin(28, GAMEPAD);
  view.setUint8(1, message.index | (message.unplugged ? UNPLUGGED : 0));
  view.setUint32(2, message.sequence, LITTLE_ENDIAN);
  view.setUint32(6, message.buttons, LITTLE_ENDIAN);
  for (let axis = 0; axis < 4; axis++) {
    const value = Math.round(clamp(message.axes[axis] ?? 0, -1, 1) * 32767);
    view.setInt16(10 + 2 * axis, value, LITTLE_ENDIAN);
  }
  for (let trigger = 0; trigger < 2; trigger++) {
    view.setUint8(18 + trigger, Math.round(clamp(message.triggers[trigger] ?? 0, 0, 1) * 255));
  }
  view.setFloat64(20, time, LITTLE_ENDIAN);
  return view.buffer;
}

/** `code` is Linux's `KEY_…` number of the physical key. */
export function encodeKey(code: number, down: boolean, time: number): ArrayBuffer {
  const view = begin(12, KEY);
  view.setUint8(1, down ? 1 : 0);
  view.setUint16(2, code, LITTLE_ENDIAN);
  view.setFloat64(4, time, LITTLE_ENDIAN);
  return view.buffer;
}

/** `button` counts as `MouseEvent.button` does. */
export function encodeButton(button: number, down: boolean, time: number): ArrayBuffer {
  const view = begin(12, BUTTON);
  view.setUint8(1, down ? 1 : 0);
  view.setUint8(2, button);
  view.setFloat64(4, time, LITTLE_ENDIAN);
  return view.buffer;
}

export function encodeReleaseAll(time: number): ArrayBuffer {
  const view = begin(12, RELEASE_ALL);
  view.setFloat64(4, time, LITTLE_ENDIAN);
  return view.buffer;
}

export function encodeTouch(
  phase: TouchPhase,
  finger: number,
  position: Position,
  time: number,
): ArrayBuffer {
  const view = begin(16, TOUCH);
  view.setUint8(1, phase);
  view.setUint16(2, finger, LITTLE_ENDIAN);
  view.setUint16(4, position.x, LITTLE_ENDIAN);
  view.setUint16(6, position.y, LITTLE_ENDIAN);
  view.setFloat64(8, time, LITTLE_ENDIAN);
  return view.buffer;
}

/** `character` is its number in Unicode. */
export function encodeCharacter(character: number, time: number): ArrayBuffer {
  const view = begin(16, CHARACTER);
  view.setUint32(4, character, LITTLE_ENDIAN);
  view.setFloat64(8, time, LITTLE_ENDIAN);
  return view.buffer;
}

function begin(length: number, kind: number): DataView<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(length));
  view.setUint8(0, kind);
  return view;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
