import { expect, it } from "vitest";
import { parseRumble, play, type Shaken } from "./rumble";

function bytes(...values: number[]): ArrayBuffer {
  return Uint8Array.from(values).buffer;
}

it("reads a message and passes over others", () => {
  expect(parseRumble(bytes(49, 3, 255, 51, 2, 1, 0, 0))).toEqual({
    index: 3,
    strong: 1,
    weak: 0.2,
    duration: 258,
  });
  expect(parseRumble(bytes(48, 3, 255, 51, 2, 1, 0, 0))).toBeUndefined();
  expect(parseRumble(bytes(49, 3, 255, 51))).toBeUndefined();
  expect(parseRumble(bytes())).toBeUndefined();
});

it("runs the motors of the gamepad meant, and stops them", () => {
  const done: unknown[] = [];
  const pad = (index: number): Shaken => ({
    index,
    vibrationActuator: {
      playEffect: async (kind, parameters) => {
        done.push([index, kind, parameters]);
        return "complete";
      },
      reset: async () => {
        done.push([index, "reset"]);
        return "complete";
      },
    },
  });
  const pads = [null, pad(1), pad(2)];
  play({ index: 2, strong: 1, weak: 0.5, duration: 200 }, pads);
  play({ index: 1, strong: 0, weak: 0, duration: 0 }, pads);
  play({ index: 7, strong: 1, weak: 1, duration: 200 }, pads);
  const effect = { duration: 200, strongMagnitude: 1, weakMagnitude: 0.5 };
  expect(done).toEqual([
    [2, "dual-rumble", effect],
    [1, "reset"],
  ]);
});

it("bears gamepads without motors, and motors that refuse", async () => {
  const rumble = { index: 0, strong: 1, weak: 1, duration: 1 };
  play(rumble, [{ index: 0 }]);
  play(rumble, [{ index: 0, vibrationActuator: null }]);
  const refuses = () => Promise.reject(new Error("no"));
  play(rumble, [{ index: 0, vibrationActuator: { playEffect: refuses, reset: refuses } }]);
  await Promise.resolve();
});
