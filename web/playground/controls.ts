// The sliders and lists.

import { type Choices, keys, options, RANGES, type Range, type Settings } from "./settings";

const LABELS: Readonly<Record<keyof Settings, string>> = {
  controller: "Controller",
  second: "A second",
  place: "It runs",
  rate: "Link's rate",
  middle: "Rate in the middle third",
  rtt: "Round trip",
  buffer: "Buffer",
  queue: "Queue",
  jitter: "Jitter",
  loss: "Loss",
  hop: "Last hop",
  neighbours: "Wi-Fi neighbours",
  tcp: "TCP beside",
  ecn: "ECN",
  duration: "Length",
  seed: "Seed",
};

type Input = HTMLInputElement | HTMLSelectElement;

export class Controls {
  readonly #inputs = new Map<keyof Settings, Input>();
  readonly #outputs = new Map<keyof Settings, HTMLOutputElement>();

  /** Puts a control for each setting into `place`. `moved` is called when one was moved. */
  constructor(place: HTMLElement, choices: Choices, moved: () => void) {
    for (const key of keys()) {
      const range = RANGES[key];
      const input = range ? slider(range) : list(options(key, choices));
      input.id = `set-${key}`;
      input.addEventListener("input", () => {
        this.#tell();
        moved();
      });
      const label = document.createElement("label");
      const words = document.createElement("span");
      words.textContent = LABELS[key];
      label.append(words);
      if (range) {
        const output = document.createElement("output");
        this.#outputs.set(key, output);
        label.append(output);
      }
      label.append(input);
      label.className = range ? "range" : "list";
      this.#inputs.set(key, input);
      place.append(label);
    }
  }

  /** What the controls say. */
  get settings(): Settings {
    const said: Record<string, string | number> = {};
    for (const [key, input] of this.#inputs) {
      said[key] = RANGES[key] ? Number(input.value) : input.value;
    }
    return said as unknown as Settings;
  }

  set settings(settings: Settings) {
    for (const [key, input] of this.#inputs) {
      input.value = String(settings[key]);
    }
    this.#tell();
  }

  /** Writes the numbers beside the sliders, and rests what has no effect. */
  #tell(): void {
    const settings = this.settings;
    for (const [key, output] of this.#outputs) {
      output.textContent = `${settings[key]} ${RANGES[key]?.unit ?? ""}`.trim();
    }
    this.#rest("place", settings.second === "");
    this.#rest("neighbours", settings.hop === "cable");
  }

  #rest(key: keyof Settings, rests: boolean): void {
    const input = this.#inputs.get(key);
    if (input) {
      input.disabled = rests;
    }
  }
}

function slider({ least, most, step }: Range): HTMLInputElement {
  const made = document.createElement("input");
  made.type = "range";
  made.min = String(least);
  made.max = String(most);
  made.step = String(step);
  return made;
}

function list(offered: readonly (readonly [string, string])[]): HTMLSelectElement {
  const made = document.createElement("select");
  made.append(...offered.map(([value, words]) => new Option(words, value)));
  return made;
}
