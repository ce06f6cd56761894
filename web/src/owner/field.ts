// One setting of the host: a field for its value, and what it is.

import { choices, type Setting } from "./messages";

/** Asks the host for a value; says whether it took it. */
export type Change = (name: string, value: string) => Promise<boolean>;

export class SettingField {
  readonly whole = document.createElement("label");
  readonly #field: HTMLInputElement | HTMLSelectElement;
  readonly #small = document.createElement("small");
  readonly #change: Change;
  readonly #name: string;
  /** The host's value. */
  #value: string;
  /** What the host was asked for last. */
  #asked: string;

  constructor(setting: Setting, change: Change) {
    this.#change = change;
    this.#name = setting.name;
    this.#value = setting.value;
    this.#asked = setting.value;
    this.#field = field(setting);
    this.#field.name = setting.name;
    this.#field.addEventListener("change", () => void this.#ask());
    this.#field.addEventListener("keydown", (event) => {
      // Otherwise the key presses the dialog's button, which closes it.
      if (event instanceof KeyboardEvent && event.key === "Enter") {
        event.preventDefault();
        void this.#ask();
      }
    });
    const text = document.createElement("span");
    text.append(words(setting.name), this.#small);
    this.whole.append(this.#field, text);
    this.update(setting);
  }

  /** Shows what the host says now. What is being typed stays unless the host has another value. */
  update({ comment, value, fixed_by, waits }: Setting): void {
    if (value !== this.#value) {
      this.#value = value;
      this.#asked = value;
      this.#field.value = value;
    }
    this.#field.disabled = fixed_by !== null;
    const notes = [
      comment.replaceAll("`", ""),
      ...(fixed_by === null ? [] : [`${fixed_by} has set it.`]),
      ...(waits ? ["From the host's next start on."] : []),
    ].join(" ");
    if (this.#small.textContent !== notes) {
      this.#small.textContent = notes;
    }
  }

  async #ask(): Promise<void> {
    const wanted = this.#field.value.trim();
    if (wanted === this.#asked) {
      return;
    }
    this.#asked = wanted;
    if (!(await this.#change(this.#name, wanted))) {
      this.#asked = this.#value;
      this.#field.value = this.#value;
    }
  }
}

/** `encoder_threads` as a person says it. */
export function words(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function field({ must, value }: Setting): HTMLInputElement | HTMLSelectElement {
  const all = choices(must);
  if (all.length === 0) {
    const made = document.createElement("input");
    made.type = "text";
    made.value = value;
    made.title = must.replaceAll("`", "");
    made.spellcheck = false;
    return made;
  }
  const made = document.createElement("select");
  for (const choice of all.includes(value) ? all : [value, ...all]) {
    made.append(new Option(choice, choice, false, choice === value));
  }
  return made;
}
