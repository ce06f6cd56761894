// The owner's dialog: who is here, which devices come in, and the settings of the next start.

import { Refusal, type Whep } from "../session/whep";
import { choices, codePath, type Owned, type Setting, span, type Wish } from "./messages";

/** How often the host is asked while the dialog is open. */
const EVERY = 2000;
const SVG = "http://www.w3.org/2000/svg";
/** Light modules around a code (ISO/IEC 18004). */
const QUIET = 4;

export class OwnerDialog {
  readonly #whep: Whep;
  readonly #dialog: HTMLDialogElement;
  readonly #note: HTMLElement;
  #timer: ReturnType<typeof setInterval> | undefined;
  #settings = "";

  constructor(whep: Whep, dialog: HTMLDialogElement) {
    this.#whep = whep;
    this.#dialog = dialog;
    this.#note = this.#part(".owner-note");
    dialog.addEventListener("close", () => clearInterval(this.#timer));
  }

  open(): void {
    this.#dialog.showModal();
    this.#dialog.querySelector<HTMLElement>("h2")?.focus();
    this.#say("");
    void this.#look();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#look(), EVERY);
  }

  async #look(): Promise<void> {
    try {
      this.#render((await this.#whep.ask("GET", "api/own")) as Owned);
    } catch (error) {
      this.#say(reason(error));
    }
  }

  async #wish(wish: Wish, done: string): Promise<boolean> {
    try {
      await this.#whep.ask("POST", "api/own", wish);
      this.#say(done);
      await this.#look();
      return true;
    } catch (error) {
      this.#say(reason(error));
      return false;
    }
  }

  #render(owned: Owned): void {
    this.#renderSessions(owned);
    this.#renderDevices(owned);
    this.#renderInvitation(owned);
    // What is being typed stays as long as the host says the same.
    const settings = JSON.stringify([owned.settings, owned.trouble]);
    if (settings !== this.#settings) {
      this.#settings = settings;
      this.#renderSettings(owned);
    }
  }

  #renderSessions({ sessions }: Owned): void {
    const rows = sessions.map(({ number, device, role, address, lasts, bitrate, round_trip }) => {
      const who = device ?? (role === "player" ? "Player" : "Viewer");
      const rtt = round_trip === null ? "" : `, ${round_trip.toFixed(1)} ms`;
      const what = `${role === "player" ? "plays" : "watches"} from ${address ?? "nowhere yet"} for ${span(lasts)}, ${(bitrate / 1e6).toFixed(1)} Mbit/s${rtt}`;
      const end = button(
        "End",
        () => void this.#wish({ end: { number } }, `${who} was sent away.`),
      );
      return row(who, what, end);
    });
    this.#fill(".owner-sessions", rows, "Nobody is here.");
  }

  #renderDevices({ devices }: Owned): void {
    const rows = (devices ?? []).map(({ name, role, paired }) => {
      const when = new Date(paired * 1000).toLocaleDateString();
      const rename = button("Rename", () => {
        const to = prompt(`Another name for ${name}`, name)?.trim();
        if (to && to !== name) {
          void this.#wish({ rename: { name, to } }, `${name} is ${to} now.`);
        }
      });
      const revoke = button("Revoke", () => {
        void this.#wish({ revoke: { name } }, `${name} does not come in any more.`);
      });
      return row(
        name,
        `may ${role === "play" ? "play" : "watch"}, paired on ${when}`,
        rename,
        revoke,
      );
    });
    this.#fill(".owner-devices", rows, "No device has paired.");
  }

  #renderInvitation({ pairs, pin, invitation }: Owned): void {
    const parts: Node[] = [];
    if (pin) {
      const left = span(pin.seconds * 1000);
      parts.push(paragraph("PIN ", strong(pin.pin), ` for one device, good for ${left}`));
    } else if (pairs) {
      const show = () => void this.#wish({ pin: {} }, "The PIN is good for one device.");
      parts.push(button("Show a PIN", show));
    }
    if (invitation) {
      parts.push(
        code(invitation.code),
        paragraph("Opens the game on a telephone: whoever scans it may play."),
      );
    }
    const place = this.#part(".owner-invite");
    // A button that is pressed while it is replaced would not be.
    const shown = parts.map((part) => part.textContent).join();
    if (place.dataset.shown !== shown) {
      place.dataset.shown = shown;
      place.replaceChildren(...parts);
    }
    this.#part(".owner-invite-title").hidden = parts.length === 0;
  }

  #renderSettings({ settings, trouble }: Owned): void {
    const parts: Node[] = trouble ? [paragraph(trouble)] : [];
    let group = "";
    for (const setting of settings) {
      if (setting.group !== group) {
        group = setting.group;
        const title = document.createElement("h4");
        title.textContent = group;
        parts.push(title);
      }
      parts.push(this.#setting(setting));
    }
    this.#part(".owner-settings").replaceChildren(...parts);
  }

  #setting(setting: Setting): HTMLElement {
    const { name, comment, value, fixed_by, waits } = setting;
    const label = document.createElement("label");
    const field = input(setting);
    field.name = name;
    field.disabled = fixed_by !== null;
    field.addEventListener("change", () => {
      const wish = { setting: { name, value: field.value.trim() } };
      const done = `${words(name)} is changed from the host's next start on.`;
      void this.#wish(wish, done).then((changed) => {
        if (!changed) {
          field.value = value;
        }
      });
    });
    const text = document.createElement("span");
    const small = document.createElement("small");
    const notes = [
      comment.replaceAll("`", ""),
      ...(fixed_by === null ? [] : [`${fixed_by} has set it.`]),
      ...(waits ? ["From the host's next start on."] : []),
    ];
    small.textContent = notes.join(" ");
    text.append(words(name), small);
    label.append(field, text);
    return label;
  }

  #fill(selector: string, rows: readonly Node[], none: string): void {
    this.#part(selector).replaceChildren(...(rows.length > 0 ? rows : [paragraph(none)]));
  }

  #say(text: string): void {
    this.#note.hidden = text === "";
    this.#note.textContent = text;
  }

  #part(selector: string): HTMLElement {
    const found = this.#dialog.querySelector<HTMLElement>(selector);
    if (!found) {
      throw new Error(`the page has no ${selector}`);
    }
    return found;
  }
}

/** `encoder_threads` as a person says it. */
function words(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function input({ must, value }: Setting): HTMLInputElement | HTMLSelectElement {
  const all = choices(must);
  if (all.length === 0) {
    const field = document.createElement("input");
    field.type = "text";
    field.value = value;
    field.title = must.replaceAll("`", "");
    field.spellcheck = false;
    return field;
  }
  const field = document.createElement("select");
  for (const choice of all.includes(value) ? all : [value, ...all]) {
    field.append(new Option(choice, choice, false, choice === value));
  }
  return field;
}

function row(name: string, what: string, ...buttons: readonly HTMLElement[]): HTMLElement {
  const whole = document.createElement("div");
  const text = document.createElement("span");
  const small = document.createElement("small");
  small.textContent = what;
  text.append(name, small);
  whole.append(text, ...buttons);
  return whole;
}

function paragraph(...parts: readonly (string | Node)[]): HTMLElement {
  const whole = document.createElement("p");
  whole.append(...parts);
  return whole;
}

function strong(text: string): HTMLElement {
  const whole = document.createElement("strong");
  whole.textContent = text;
  return whole;
}

function button(text: string, press: () => void): HTMLButtonElement {
  const whole = document.createElement("button");
  whole.type = "button";
  whole.textContent = text;
  whole.addEventListener("click", press);
  return whole;
}

/** A QR code: dark on light, as cameras read it. */
function code(rows: readonly string[]): SVGElement {
  const size = rows.length + 2 * QUIET;
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `${-QUIET} ${-QUIET} ${size} ${size}`);
  drawing.setAttribute("class", "owner-code");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", "QR code of the host's URL");
  const modules = document.createElementNS(SVG, "path");
  modules.setAttribute("d", codePath(rows));
  drawing.append(modules);
  return drawing;
}

function reason(error: unknown): string {
  return error instanceof Refusal ? error.problem.message : "The host does not answer.";
}
