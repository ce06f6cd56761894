import { describe, expect, it } from "vitest";
import { budget, type Days, dayOf, LEAST_LIMIT, monthAround, type Used } from "./budget";
import cases from "./budget.cases.json";

const GIGABYTE = 1e9;
/** 27 November 2026. */
const TODAY = Date.UTC(2026, 10, 27) / 86_400_000;

describe("a month's data", () => {
  it("follows the cases that the native client follows", () => {
    for (const { name, monthly, first_day, today, days, ...expected } of cases) {
      const used: Days = new Map(
        days.map(([day = 0, bytes = 0, seconds = 0]) => [day, { bytes, seconds }]),
      );
      const found = budget({ monthly, firstDay: first_day }, used, today);
      expect([found.used, found.days], name).toEqual([expected.used, expected.days_left]);
      expect(Math.abs(found.limit - expected.limit), name).toBeLessThanOrEqual(1);
    }
  });

  it("knows where months begin and end", () => {
    const date = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);
    const around = (day: number, firstDay: number) => {
      const { first, next } = monthAround(day, firstDay);
      return [date(first), date(next)];
    };
    expect(around(TODAY, 1)).toEqual(["2026-11-01", "2026-12-01"]);
    expect(around(TODAY, 27)).toEqual(["2026-11-27", "2026-12-27"]);
    expect(around(TODAY, 28)).toEqual(["2026-10-28", "2026-11-28"]);
    expect(around(Date.UTC(2027, 0, 5) / 86_400_000, 15)).toEqual(["2026-12-15", "2027-01-15"]);
  });

  it("takes the day from the person's own calendar", () => {
    const late = new Date(2026, 10, 27, 23, 59);
    expect(dayOf(late)).toBe(TODAY);
    expect(dayOf(new Date(2026, 10, 28, 0, 1))).toBe(TODAY + 1);
  });

  /** A person who plays for so many hours a day, over a line of so many Mbit/s. */
  function year(monthly: number, hours: (day: number) => number, line: number) {
    const days = new Map<number, Used>();
    const months = new Map<number, number>();
    const floor = new Map<number, number>();
    const start = Date.UTC(2026, 0, 1) / 86_400_000;
    for (let today = start; today < start + 365; today++) {
      const { first } = monthAround(today, 1);
      // The limit is looked at each minute.
      for (let minute = 0; minute < hours(today - start) * 60; minute++) {
        const { limit } = budget({ monthly, firstDay: 1 }, days, today);
        const bytes = (Math.min(limit, line * 1e6) * 60) / 8;
        const before = days.get(today) ?? { bytes: 0, seconds: 0 };
        days.set(today, { bytes: before.bytes + bytes, seconds: before.seconds + 60 });
        months.set(first, (months.get(first) ?? 0) + bytes);
        if (limit === LEAST_LIMIT) {
          floor.set(first, (floor.get(first) ?? 0) + bytes);
        }
      }
    }
    return [...months].map(([first, bytes]) => ({ bytes, floor: floor.get(first) ?? 0 }));
  }

  it("is used and not exceeded, whatever the habit", () => {
    const monthly = 150 * GIGABYTE;
    const habits: [string, (day: number) => number][] = [
      ["an hour and a half each day", () => 1.5],
      ["four hours each day", () => 4],
      ["weekends", (day) => (day % 7 < 2 ? 6 : 0)],
      ["more and more", (day) => 0.5 + day / 90],
    ];
    for (const [name, hours] of habits) {
      const months = year(monthly, hours, 50);
      for (const [month, { bytes, floor }] of months.entries()) {
        // What the least bitrate takes once all is used.
        expect(bytes - floor, `${name}, month ${month}`).toBeLessThanOrEqual(monthly);
        // The habit is known from the second month on.
        if (month > 0) {
          expect(bytes, `${name}, month ${month}`).toBeGreaterThan(monthly * 0.85);
        }
      }
    }
  });

  it("is out of the way of a line that cannot use it up", () => {
    const months = year(500 * GIGABYTE, () => 1, 10);
    for (const { bytes } of months.slice(1)) {
      const all = (28 * 3600 * 10e6) / 8;
      expect(bytes).toBeGreaterThanOrEqual(all);
    }
  });
});
