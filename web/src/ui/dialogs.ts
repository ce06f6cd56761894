// Settings and help.

import { type Settings, storeSettings } from "../settings";
import { element, setText } from "./dom";

const SWITCHES = ["holdPointer", "rawMovement", "touchAsPointer", "typeText"] as const;

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
      });
    }
  }
  const volume = element<HTMLInputElement>("volume");
  volume.valueAsNumber = settings.volume;
  volume.addEventListener("input", () => {
    settings.volume = volume.valueAsNumber;
    storeSettings(settings);
    changed();
  });
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
