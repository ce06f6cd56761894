import { describe, expect, it } from "vitest";
import { axisEnd, endOf, History, runs, SPAN, xOf, yOf } from "./graph";

const FRAME = { left: 10, top: 20, width: 300, height: 100 };

describe("axes", () => {
  it.each([
    [0, 1, 1],
    [1, 1, 1],
    [21, 1, 25],
    [25.1, 1, 50],
    [50, 1, 50],
    [51, 1, 100],
    [3, 20, 20],
    [0.3, 0.2, 0.5],
  ])("for values to %d and at least %d end at %d", (largest, atLeast, end) => {
    expect(axisEnd(largest, atLeast)).toBeCloseTo(end, 9);
  });

  it("run from 30 s ago to now, and from 0 to the end", () => {
    expect(xOf(1000, 1000, FRAME)).toBe(310);
    expect(xOf(1000 - SPAN, 1000, FRAME)).toBe(10);
    expect(yOf(0, 50, FRAME)).toBe(120);
    expect(yOf(50, 50, FRAME)).toBe(20);
    expect(yOf(25, 50, FRAME)).toBe(70);
    expect([yOf(99, 50, FRAME), yOf(-1, 50, FRAME)]).toEqual([20, 120]);
  });
});

describe("lines", () => {
  const point = (time: number, delay: number | null) => {
    return { time, target: 1, delay, busy: null, queue: null };
  };

  it("break where a value is unknown or messages did not come", () => {
    const points = [point(0, 1), point(250, 2), point(500, null), point(750, 3), point(5000, 4)];
    const lines = runs(points, ({ delay }) => delay);
    expect(lines.map((line) => line.map(({ value }) => value))).toEqual([[1, 2], [3], [4]]);
  });

  it("have an axis that reaches their largest value, or as far as it may", () => {
    const lines = runs([point(0, 30), point(250, 310)], ({ delay }) => delay);
    const curve = { name: "", colour: "", value: () => null };
    expect(endOf(lines, { ...curve, atLeast: 20 })).toBe(500);
    expect(endOf(lines, { ...curve, atLeast: 1000 })).toBe(1000);
    expect(endOf(lines, { ...curve, atLeast: 200, atMost: 200 })).toBe(200);
  });

  it("keep half a minute", () => {
    const history = new History();
    for (let time = 0; time <= 40_000; time += 250) {
      history.add(point(time, 1));
    }
    expect(history.points).toHaveLength(121);
    expect(history.points[0]?.time).toBe(10_000);
  });
});
