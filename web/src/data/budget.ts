// A month's data: what is left of it, and what bitrate that bounds.
//
// The rule is our own. What is left is shared among the time that a person will probably play until the
// month's end, as in the last four weeks. A person who plays more than that finds the limit sinking
// steadily, and never a wall in the middle of a game; the last of the data is not used up but for the
// least bitrate at which there is a picture. The native client follows the same rule
// (crates/apps/client/src/budget.rs), and both are tested by budget.cases.json.

/** What a person may use in a month. */
export interface Plan {
  /** In bytes. */
  readonly monthly: number;
  /** The day of the month on which it begins anew, from 1 to 28. */
  readonly firstDay: number;
}

/** What was used on a day. */
export interface Used {
  readonly bytes: number;
  /** How long something was played, in seconds. */
  readonly seconds: number;
}

/** A day as the number of days since 1 January 1970, and what was used on it. */
export type Days = ReadonlyMap<number, Used>;

export interface Budget {
  /** Bytes used in the running month. */
  readonly used: number;
  /** Days until the data is renewed, today included. */
  readonly days: number;
  /** The most that a stream may take, in bit/s. */
  readonly limit: number;
}

/** Days from which a person's habit is learnt. */
export const LEARNT_FROM = 28;
/** What is assumed of a person of whom nothing is known, and how many days that is worth. */
const ASSUMED = { seconds: 1.5 * 3600, days: 7 };
/** The last hour before the month's end is not given more than an hour's share. */
const LEAST_LEFT = 3600;
/** Below this there is no picture to play with, in bit/s. */
export const LEAST_LIMIT = 1e6;

const DAY = 86_400_000;

/** A date's day, in the calendar of the person's place. */
export function dayOf(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
}

/** The first day of the month in which `today` is, and that of the next one. */
export function monthAround(today: number, firstDay: number): { first: number; next: number } {
  const date = new Date(today * DAY);
  const back = date.getUTCDate() < firstDay ? 1 : 0;
  const start = (months: number) =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back + months, firstDay) / DAY;
  return { first: start(0), next: start(1) };
}

export function budget({ monthly, firstDay }: Plan, days: Days, today: number): Budget {
  const { first, next } = monthAround(today, firstDay);
  let used = 0;
  let learnt = 0;
  let oldest = today;
  for (const [day, { bytes, seconds }] of days) {
    if (day >= first && day <= today) {
      used += bytes;
    }
    if (day > today - LEARNT_FROM && day < today) {
      learnt += seconds;
      oldest = Math.min(oldest, day);
    }
  }
  const left = Math.max(0, monthly - used);
  const aDay = (learnt + ASSUMED.seconds * ASSUMED.days) / (today - oldest + ASSUMED.days);
  const time = Math.max(LEAST_LEFT, aDay * (next - today));
  const limit = Math.max(LEAST_LIMIT, Math.floor((left * 8) / time));
  return { used, days: next - today, limit };
}
