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
  muted: false,
  volume: 100,
};

const SWITCHES = [
  "rawMovement",
  "holdPointer",
  "touchAsPointer",
  "typeText",
  "statistics",
  "muted",
] as const satisfies readonly (keyof Settings)[];

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
    const { volume } = known;
    if (typeof volume === "number" && volume >= 0 && volume <= 100) {
      settings.volume = volume;
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
