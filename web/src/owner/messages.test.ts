import { expect, it } from "vitest";
import { choices, codePath, span } from "./messages";

it("finds the choices of what has nothing but choices", () => {
  expect(choices("`on` or `off`")).toEqual(["on", "off"]);
  expect(choices("`c0`, `c0+`, `c1`, `c2` or `adaptive`")).toEqual([
    "c0",
    "c0+",
    "c1",
    "c2",
    "adaptive",
  ]);
  expect(choices("a whole number from 0 to 100")).toEqual([]);
  expect(choices("`auto` or a duration with its unit, e.g. `100ms`")).toEqual([]);
  expect(choices("a rate with its unit, e.g. `500kbit/s`")).toEqual([]);
});

it("says how long", () => {
  expect([900, 59_999, 60_000, 3_599_999, 7_500_000].map(span)).toEqual([
    "0 s",
    "59 s",
    "1 min",
    "59 min",
    "2 h 5 min",
  ]);
});

it("draws each dark module of a code once", () => {
  expect(codePath(["101", "011", "000"])).toBe("M0 0h1v1h-1zM2 0h1v1h-1zM1 1h2v1h-2z");
});
