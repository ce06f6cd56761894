// What this browser has used, day by day, kept for two months.

import { type Days, dayOf, type Used } from "./budget";

const KEY = "mimosa.data";
/** The running month, and the days from which a habit is learnt. */
const KEPT = 62;
/** Headers of IPv4 and UDP, which browsers do not count. */
const HEADERS = 28;

/** What was stored; days that make no sense are left out. */
export function parseDays(text: string | null): Map<number, Used> {
  const days = new Map<number, Used>();
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "{}");
  } catch {
    return days;
  }
  if (typeof stored !== "object" || stored === null) {
    return days;
  }
  for (const [name, value] of Object.entries(stored)) {
    const day = Number(name);
    const [bytes, seconds] = Array.isArray(value) ? (value as unknown[]) : [];
    if (Number.isSafeInteger(day) && isAmount(bytes) && isAmount(seconds)) {
      days.set(day, { bytes, seconds });
    }
  }
  return days;
}

export function writeDays(days: Days, today: number): string {
  const kept = [...days].filter(([day]) => day > today - KEPT && day <= today);
  return JSON.stringify(
    Object.fromEntries(
      kept.map(([day, { bytes, seconds }]) => [day, [bytes, Math.round(seconds)]]),
    ),
  );
}

/** Bytes that a connection has received so far, with their headers. */
export function received(report: RTCStatsReport): number {
  let bytes = 0;
  report.forEach((entry: RTCStats & { bytesReceived?: number; packetsReceived?: number }) => {
    if (entry.type === "candidate-pair") {
      bytes += (entry.bytesReceived ?? 0) + HEADERS * (entry.packetsReceived ?? 0);
    }
  });
  return bytes;
}

/** Adds up what sessions receive. Another tab's share is kept. */
export class Ledger {
  /** Bytes of the running session at the last count. */
  #counted = 0;

  /** A session begins. */
  begin(): void {
    this.#counted = 0;
  }

  /** So many bytes have come since the session began, and so many seconds were played since the last
   * count. */
  count(bytes: number, seconds: number, now = new Date()): void {
    const more = Math.max(0, bytes - this.#counted);
    this.#counted = bytes;
    const today = dayOf(now);
    const days = this.days();
    const before = days.get(today) ?? { bytes: 0, seconds: 0 };
    days.set(today, { bytes: before.bytes + more, seconds: before.seconds + seconds });
    try {
      localStorage.setItem(KEY, writeDays(days, today));
    } catch {
      // Storage can be forbidden; then nothing is counted.
    }
  }

  days(): Map<number, Used> {
    try {
      return parseDays(localStorage.getItem(KEY));
    } catch {
      return new Map();
    }
  }
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
