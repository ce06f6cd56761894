// What a person has chosen, kept in this browser.

export interface Settings {
  /** Take the mouse's own movement, without the system's acceleration. */
  rawMovement: boolean;
  /** Hold the pointer while playing; otherwise its position is sent. */
  holdPointer: boolean;
  /** Let the first finger move the pointer and press its left button. */
  touchAsPointer: boolean;
  /** Let the browser compose text: dead keys, input methods, screen keyboards. */
  typeText: boolean;
  /** Show the statistics. */
  statistics: boolean;
  /** Show them in one line. */
  shortStatistics: boolean;
  /** Have the stream take less than the line carries. */
  saveData: boolean;
  /** What may be used in a month, in units of 10⁹ bytes; 0 for as much as comes. */
  monthlyData: number;
  /** The day of the month on which that begins anew, from 1 to 28. */
  dataDay: number;
  /** Play no sound. */
  muted: boolean;
  /** How loud, from 0 to 100. */
  volume: number;
}

const KEY = "mimosa.settings";

const DEFAULTS: Settings = {
  rawMovement: true,
  holdPointer: true,
  touchAsPointer: false,
  typeText: false,
  statistics: false,
  shortStatistics: false,
  saveData: false,
  monthlyData: 0,
  dataDay: 1,
  muted: false,
  volume: 100,
};

const SWITCHES = [
  "rawMovement",
  "holdPointer",
  "touchAsPointer",
  "typeText",
  "statistics",
  "shortStatistics",
  "saveData",
  "muted",
] as const satisfies readonly (keyof Settings)[];

/** Each number's bounds. */
export const NUMBERS = [
  ["volume", 0, 100],
  ["monthlyData", 0, 100_000],
  ["dataDay", 1, 28],
] as const satisfies readonly (readonly [keyof Settings, number, number])[];

/** What was stored, with defaults for whatever is missing or of another type. */
export function parseSettings(text: string | null): Settings {
  const settings = { ...DEFAULTS };
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "{}");
  } catch {
    return settings;
  }
  if (typeof stored === "object" && stored !== null) {
    const known = stored as Partial<Record<keyof Settings, unknown>>;
    for (const name of SWITCHES) {
      const value = known[name];
      if (typeof value === "boolean") {
        settings[name] = value;
      }
    }
    for (const [name, least, most] of NUMBERS) {
      const value = known[name];
      if (typeof value === "number" && value >= least && value <= most) {
        settings[name] = value;
      }
    }
  }
  return settings;
}

export function loadSettings(): Settings {
  try {
    return parseSettings(localStorage.getItem(KEY));
  } catch {
    // Storage can be forbidden; the page works without it.
    return { ...DEFAULTS };
  }
}

export function storeSettings(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // As above.
  }
}
