// What the sliders say, their ranges, and the fragment of a link that holds them.

/** What is chosen beside the numbers. */
export interface Choices {
  /** Names of controllers. */
  readonly controllers: readonly string[];
  /** Names of TCP's congestion controls. */
  readonly tcp: readonly string[];
}

/** What the sliders say. */
export interface Settings {
  /** The controller of the stream. */
  controller: string;
  /** A second controller; empty for none. */
  second: string;
  /** Where the second one stands. */
  place: string;
  /** The link's rate in Mbit/s. */
  rate: number;
  /** Its rate in the middle third of the run, in percent. */
  middle: number;
  /** Round trip without a queue, in ms. */
  rtt: number;
  /** Room of the queue, in ms at the link's rate. */
  buffer: number;
  /** The kind of the queue. */
  queue: string;
  /** Standard deviation of the path's delay, in ms. */
  jitter: number;
  /** Packets lost after the link, in percent. */
  loss: number;
  /** The last hop: `cable` or a standard of Wi-Fi. */
  hop: string;
  /** Nodes on the same channel that send as much as they can. */
  neighbours: number;
  /** TCP's congestion control beside; empty for none. */
  tcp: string;
  /** Whether the stream's packets ask for ECN marks: `on`, or empty. */
  ecn: string;
  /** Length of the run in s. */
  duration: number;
  /** The seed of everything random. */
  seed: number;
}

export const DEFAULTS: Settings = {
  controller: "mimosa",
  second: "gcc",
  place: "alone",
  rate: 20,
  middle: 50,
  rtt: 40,
  buffer: 200,
  queue: "droptail",
  jitter: 0,
  loss: 0,
  hop: "cable",
  neighbours: 1,
  tcp: "",
  ecn: "",
  duration: 30,
  seed: 1,
};

/** A number's bounds, the step of its slider, and its unit. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly step: number;
  readonly unit: string;
}

export const RANGES: Readonly<Record<string, Range>> = {
  rate: { least: 1, most: 100, step: 1, unit: "Mbit/s" },
  middle: { least: 10, most: 200, step: 5, unit: "%" },
  rtt: { least: 2, most: 300, step: 2, unit: "ms" },
  buffer: { least: 10, most: 1000, step: 10, unit: "ms" },
  jitter: { least: 0, most: 30, step: 0.5, unit: "ms" },
  loss: { least: 0, most: 10, step: 0.1, unit: "%" },
  neighbours: { least: 0, most: 10, step: 1, unit: "" },
  duration: { least: 5, most: 120, step: 5, unit: "s" },
  seed: { least: 1, most: 100, step: 1, unit: "" },
};

/** What a choice offers: values and their words. */
export function options(key: string, choices: Choices): readonly (readonly [string, string])[] {
  const same = (names: readonly string[]) => names.map((name) => [name, name] as const);
  switch (key) {
    case "controller":
      return same(choices.controllers);
    case "second":
      return [["", "none"], ...same(choices.controllers)];
    case "place":
      return [
        ["alone", "on its own link"],
        ["beside", "on the same link"],
      ];
    case "queue":
      return [
        ["droptail", "drop-tail"],
        ["codel", "CoDel"],
        ["fq-codel", "FQ-CoDel"],
        ["pie", "PIE"],
        ["dualpi2", "DualPI2 (L4S)"],
        ["sfq", "SFQ"],
      ];
    case "hop":
      return [
        ["cable", "cable"],
        ["n", "Wi-Fi 4 (802.11n)"],
        ["ac", "Wi-Fi 5 (802.11ac)"],
        ["ax", "Wi-Fi 6 (802.11ax)"],
      ];
    case "tcp":
      return [["", "none"], ...same(choices.tcp)];
    case "ecn":
      return [
        ["", "no"],
        ["on", "where the controller answers marks"],
      ];
    default:
      return [];
  }
}

/** What a link holds: what the sliders say, or a text that was edited. */
export interface Held {
  readonly settings: Settings;
  /** The text in place of the sliders' one. */
  readonly text: string | undefined;
}

/** The fragment of a link, without `#`. What is as it is without a fragment is left out. */
export function toFragment({ settings, text }: Held): string {
  const said = new URLSearchParams();
  if (text !== undefined) {
    said.set("toml", text);
    return said.toString();
  }
  for (const key of keys()) {
    if (settings[key] !== DEFAULTS[key]) {
      said.set(key, String(settings[key]));
    }
  }
  return said.toString();
}

/** What a fragment holds. What it does not hold, or holds wrongly, is as it is without a fragment. */
export function fromFragment(fragment: string, choices: Choices): Held {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const settings: Record<string, string | number> = { ...DEFAULTS };
  for (const key of keys()) {
    const value = said.get(key);
    const range = RANGES[key];
    if (value === null) {
      continue;
    }
    if (range) {
      const number = Number(value);
      if (value.trim() !== "" && Number.isFinite(number)) {
        settings[key] = Math.min(range.most, Math.max(range.least, number));
      }
    } else if (options(key, choices).some(([known]) => known === value)) {
      settings[key] = value;
    }
  }
  return { settings: settings as unknown as Settings, text: said.get("toml") ?? undefined };
}

/** The names of all settings. */
export function keys(): readonly (keyof Settings)[] {
  return Object.keys(DEFAULTS) as (keyof Settings)[];
}
