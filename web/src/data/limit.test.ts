import { expect, it } from "vitest";
import { parseSettings } from "../settings";
import { dataLimit, inWords, SAVING } from "./limit";

const TODAY = Date.UTC(2026, 10, 27) / 86_400_000;

function limit(chosen: object, bytes = 0) {
  const settings = parseSettings(JSON.stringify(chosen));
  const days = new Map([[TODAY - 1, { bytes, seconds: 5400 }]]);
  const found = dataLimit(settings, days, TODAY);
  return { ...found, words: inWords(found, settings.monthlyData) };
}

it("limits nothing unless asked", () => {
  expect(limit({})).toEqual({ bitrate: null, budget: null, cause: null, words: "" });
});

it("saves data", () => {
  expect(limit({ saveData: true })).toMatchObject({
    bitrate: SAVING,
    cause: "saving",
    words: "At most 5.0 Mbit/s to save data.",
  });
});

it("says what of the month is left, and keeps to it", () => {
  // 18 GB for four days of an hour and a half.
  expect(limit({ monthlyData: 30 }, 12e9)).toMatchObject({
    bitrate: Math.floor((18e9 * 8) / (4 * 5400)),
    cause: "budget",
    words: "12.0 of 30 GB used, 4 days left; at most 6.7 Mbit/s for the month's data.",
  });
  expect(limit({ monthlyData: 30, dataDay: 28 }, 12e9).words).toContain("the last day");
});

it("takes the smaller of the two", () => {
  expect(limit({ saveData: true, monthlyData: 30 }, 12e9)).toMatchObject({ cause: "saving" });
  expect(limit({ saveData: true, monthlyData: 30 }, 25e9)).toMatchObject({ cause: "budget" });
});
