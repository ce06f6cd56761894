// What a person has chosen, kept in this browser.

export interface Settings {
  /** Take the mouse's own movement, without the system's acceleration. */
  rawMovement: boolean;
  /** Hold the pointer while playing; otherwise its position is sent. */
  holdPointer: boolean;
  /** Let the first finger move the pointer and press its left button. */
  touchAsPointer: boolean;
  /** Show the statistics. */
  statistics: boolean;
}

const KEY = "mimosa.settings";

const DEFAULTS: Settings = {
  rawMovement: true,
  holdPointer: true,
  touchAsPointer: false,
  statistics: false,
};

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
    for (const name of Object.keys(DEFAULTS) as (keyof Settings)[]) {
      const value = (stored as Record<string, unknown>)[name];
      if (typeof value === "boolean") {
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
