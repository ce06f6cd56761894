// The arithmetic of the comparison of two controllers.

import { expect, test } from "vitest";
import { marked, type Run, ratios, type Side, spread, table } from "./support/pairs";
import { Rates } from "./support/rates";

function run(pair: number, side: Side, late: number, marks: string[] = []): Run {
  return { network: "one", pair, side, marks, figures: { late } };
}

const NAMES = { A: "one", B: "two" };

test("a spread has the middle, the least and the greatest", () => {
  expect(spread([3, 1, Number.NaN, 2])).toEqual({ median: 2, least: 1, most: 3, count: 3 });
  expect(spread([4, 1, 2, 3])?.median).toBe(2.5);
  expect(spread([Number.NaN])).toBeUndefined();
});

test("ratios are of the same pair, where there is one", () => {
  const runs = [run(1, "A", 2), run(1, "B", 1), run(2, "B", 6), run(2, "A", 4), run(3, "A", 1)];
  expect(ratios(runs, "late")).toEqual([0.5, 1.5]);
  expect(ratios([run(1, "A", 0), run(1, "B", 0)], "late")).toEqual([]);
  expect(ratios([run(1, "A", 0), run(1, "B", 1)], "late")).toEqual([]);
});

test("the table has medians, spreads and marks", () => {
  const runs = [run(1, "A", 2), run(1, "B", 1), run(2, "A", 4), run(2, "B", 6, ["slow"])];
  const text = table("link", NAMES, runs, [{ key: "late", label: "late, %", decimals: 1 }]);
  expect(text.split("\n")[2]).toBe(
    "| late, % | 3.0 | 2.0 to 4.0 | 3.5 | 1.0 to 6.0 | 1.000 | 0.500 to 1.500 | 2 |",
  );
  expect(marked(NAMES, runs)).toContain("- pair 2, two: slow\n");
  expect(marked(NAMES, runs.slice(0, 3))).toBe("No run is marked.\n");
});

test("steps carry what their rates make, the last for ever", () => {
  const steps = new Rates([
    { at: 0, mbps: 30 },
    { at: 10, mbps: 10 },
    { at: 20, mbps: 40 },
  ]);
  expect(steps.carried(5, 25)).toBe(30 * 5 + 10 * 10 + 40 * 5);
  expect(steps.carried(100, 101)).toBe(40);
  expect(steps.asKey("")).toContain('{ at = "10s", rate = "10Mbit/s" }');
  expect(() => new Rates([{ at: 1, mbps: 1 }])).toThrow();
});

test("a trace repeats, and may begin later", () => {
  const text = "# a comment\n0 10 20ms\n0.5 20 20ms 0.1\n1 0\n1.5 4\n";
  const whole = Rates.ofTrace(text);
  expect(whole.period).toBe(2);
  expect(whole.carried(0, 2)).toBe(17);
  expect(whole.carried(1.75, 6.25)).toBe(1 + 17 + 17 + 2.5);
  const later = Rates.ofTrace(text, 0.75);
  expect(later.carried(0, 0.5)).toBe(5);
  expect(Rates.ofTrace(later.asTrace())).toEqual(later);
  expect(() => Rates.ofTrace(text, 2)).toThrow();
  expect(Rates.ofTrace("0 1\n1 2\n5\n").carried(0, 5)).toBe(9);
});
