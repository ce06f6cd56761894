// What a game has a gamepad do.

const RUMBLE = 49;
const LENGTH = 8;
const LITTLE_ENDIAN = true;

export interface Rumble {
  readonly index: number;
  /** How strongly the heavy and the light motor run, 0 to 1. */
  readonly strong: number;
  readonly weak: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** A message of the host's on `input`; `undefined` for what this page does not know. */
export function parseRumble(data: ArrayBuffer): Rumble | undefined {
  const view = new DataView(data);
  if (data.byteLength !== LENGTH || view.getUint8(0) !== RUMBLE) {
    return undefined;
  }
  return {
    index: view.getUint8(1),
    strong: view.getUint8(2) / 255,
    weak: view.getUint8(3) / 255,
    duration: view.getUint32(4, LITTLE_ENDIAN),
  };
}

type Motors = Pick<GamepadHapticActuator, "playEffect" | "reset">;

/** What of a `Gamepad` is needed; browsers have motors for some only. */
export interface Shaken {
  readonly index: number;
  readonly vibrationActuator?: Motors | null;
}

/** Does it, where the gamepad is there and can. */
export function play(rumble: Rumble, gamepads: readonly (Shaken | null)[]): void {
  const gamepad = gamepads.find((each) => each?.index === rumble.index);
  const motors = gamepad?.vibrationActuator;
  const still = rumble.strong === 0 && rumble.weak === 0;
  const done = still
    ? motors?.reset?.()
    : motors?.playEffect?.("dual-rumble", {
        duration: rumble.duration,
        strongMagnitude: rumble.strong,
        weakMagnitude: rumble.weak,
      });
  // A gamepad without motors, or a page that nobody looks at.
  done?.catch(() => {});
}
