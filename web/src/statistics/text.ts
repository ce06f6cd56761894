// How figures are written; what is not known is a dash, never a number.

type Known = number | null | undefined;

export interface Row {
  readonly label: string;
  readonly value: string;
  /** What the figures mean. */
  readonly title: string;
}

export const UNKNOWN = "–";

export function join(...parts: string[]): string {
  return parts.join(" · ");
}

export function count(value: Known): string {
  return value === null || value === undefined ? UNKNOWN : String(Math.round(value));
}

export function decimal(value: Known, digits = 1): string {
  return value === null || value === undefined ? UNKNOWN : value.toFixed(digits);
}

/** Of bit/s. */
export function megabits(value: Known): string {
  return decimal(value === null || value === undefined ? value : value / 1e6);
}

/** Of bit/s: what passes in an hour at this rate, in units of 10⁹ bytes. */
export function gigabytesAnHour(value: Known): string {
  return decimal(value === null || value === undefined ? value : (value / 8 / 1e9) * 3600);
}

/** Of bytes. */
export function kilobytes(value: Known): string {
  return decimal(value === null || value === undefined ? value : value / 1e3);
}

export function percent(value: Known, digits = 1): string {
  return value === null || value === undefined ? UNKNOWN : `${(value * 100).toFixed(digits)} %`;
}

/** Of milliseconds. */
export function seconds(value: Known): string {
  return decimal(value === null || value === undefined ? value : value / 1000);
}
