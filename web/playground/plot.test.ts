import { expect, test } from "vitest";
import { niceStep, roomFor, ticks } from "./plot";

test("steps are 1, 2 or 5 times a power of ten", () => {
  expect([1, 3, 7, 20, 101, 0.3].map((most) => niceStep(most, 5))).toEqual([0.2, 1, 2, 5, 50, 0.1]);
  expect([0, -1, Number.NaN, Number.POSITIVE_INFINITY].map((most) => niceStep(most, 5))).toEqual([
    1, 1, 1, 1,
  ]);
});

test("ticks reach as far as the axis, and no further", () => {
  expect(ticks(30, 6)).toEqual([0, 5, 10, 15, 20, 25, 30]);
  expect(ticks(0.7, 4)).toEqual([0, 0.2, 0.4, 0.6]);
});

test("there is room above the highest value, gaps left out", () => {
  const points = [[0, 4] as const, [1, null] as const, [2, 10] as const];
  expect(roomFor([{ color: "--link", points }], 1)).toBeCloseTo(10.5);
  expect(roomFor([], 1)).toBeCloseTo(1.05);
});
