// Settings and help.

import { NUMBERS, type Settings, storeSettings } from "../settings";
import { element, setText } from "./dom";

const SWITCHES = [
  "holdPointer",
  "rawMovement",
  "touchAsPointer",
  "typeText",
  "shortStatistics",
  "saveData",
] as const;

/** Connects both dialogs to their buttons; choices go into `settings` at once. */
export function connectDialogs(settings: Settings, note: string, changed: () => void): void {
  const dialog = element<HTMLDialogElement>("settings");
  for (const name of SWITCHES) {
    const box = dialog.querySelector<HTMLInputElement>(`input[name="${name}"]`);
    if (box) {
      box.checked = settings[name];
      box.addEventListener("change", () => {
        settings[name] = box.checked;
        storeSettings(settings);
        changed();
      });
    }
  }
  for (const [name, least, most] of NUMBERS) {
    const field = dialog.querySelector<HTMLInputElement>(`input[name="${name}"]`);
    if (field) {
      field.valueAsNumber = settings[name];
      field.addEventListener("input", () => {
        const value = field.valueAsNumber;
        // An empty field, or half a number, is not meant yet.
        if (value >= least && value <= most) {
          settings[name] = value;
          storeSettings(settings);
          changed();
        }
      });
    }
  }
  const noteLine = element("settings-note");
  noteLine.hidden = note === "";
  setText(noteLine, note);
  element("settings-open").addEventListener("click", () => open(dialog));

  const help = element<HTMLDialogElement>("help");
  element("help-open").addEventListener("click", () => open(help));
}

/** With the focus on the heading: a reader begins there, and nothing is scrolled. */
function open(dialog: HTMLDialogElement): void {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("h2")?.focus();
}
