// The most that the stream may take, of what a person has chosen and of what is left of the month.

import type { Settings } from "../settings";
import { type Budget, budget, type Days } from "./budget";

/** What a stream takes at the most that saves data, in bit/s: 2.25 GB an hour, and good for 720p. */
export const SAVING = 5e6;

const GIGABYTE = 1e9;

export interface DataLimit {
  /** In bit/s; null without a limit. */
  readonly bitrate: number | null;
  /** Null where no month's data is set. */
  readonly budget: Budget | null;
  /** Why there is a limit; null without one. */
  readonly cause: "saving" | "budget" | null;
}

export function dataLimit(settings: Settings, days: Days, today: number): DataLimit {
  const { saveData, monthlyData, dataDay } = settings;
  const plan = { monthly: monthlyData * GIGABYTE, firstDay: Math.floor(dataDay) };
  const month = monthlyData > 0 ? budget(plan, days, today) : null;
  const saving = saveData ? SAVING : null;
  if (month && (saving === null || month.limit < saving)) {
    return { bitrate: month.limit, budget: month, cause: "budget" };
  }
  return { bitrate: saving, budget: month, cause: saving === null ? null : "saving" };
}

/** A sentence for a person; empty where there is nothing to say. */
export function inWords({ bitrate, budget, cause }: DataLimit, monthly: number): string {
  const parts: string[] = [];
  if (budget) {
    const days = budget.days === 1 ? "the last day" : `${budget.days} days left`;
    parts.push(`${(budget.used / GIGABYTE).toFixed(1)} of ${monthly} GB used, ${days}`);
  }
  if (bitrate !== null) {
    const why = cause === "budget" ? "for the month's data" : "to save data";
    parts.push(`at most ${(bitrate / 1e6).toFixed(1)} Mbit/s ${why}`);
  }
  const words = parts.join("; ");
  return words && `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
