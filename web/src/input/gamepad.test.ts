import { expect, it } from "vitest";
import { readGamepad } from "./gamepad";
import { smallestFree } from "./touch";

it("reads buttons as bits, four axes and both triggers", () => {
  const released = { pressed: false, value: 0 };
  const buttons = Array.from({ length: 17 }, () => released);
  buttons[0] = { pressed: true, value: 1 };
  buttons[7] = { pressed: false, value: 0.25 };
  buttons[16] = { pressed: true, value: 1 };
  expect(readGamepad({ buttons, axes: [0.5, -0.5] })).toEqual({
    buttons: 0x10001,
    axes: [0.5, -0.5, 0, 0],
    triggers: [0, 0.25],
  });
});

it("reads 32 buttons without a sign", () => {
  const buttons = Array.from({ length: 40 }, () => ({ pressed: true, value: 1 }));
  expect(readGamepad({ buttons, axes: [] }).buttons).toBe(0xffffffff);
});

it("gives a finger the smallest free number", () => {
  expect(smallestFree([])).toBe(0);
  expect(smallestFree([0, 2])).toBe(1);
  expect(smallestFree([1, 0])).toBe(2);
});
