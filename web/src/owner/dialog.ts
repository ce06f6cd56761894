// The owner's dialog: who is here, which devices come in, and the settings of the next start.

import { Refusal, type Whep } from "../session/whep";
import { SettingField, words } from "./field";
import { codePath, type Owned, span, type Wish } from "./messages";
import { Rows } from "./rows";

/** How often the host is asked while the dialog is open. */
const EVERY = 2000;
const SVG = "http://www.w3.org/2000/svg";
/** Light modules around a code (ISO/IEC 18004). */
const QUIET = 4;

export class OwnerDialog {
  readonly #whep: Whep;
  readonly #dialog: HTMLDialogElement;
  readonly #note: HTMLElement;
  readonly #sessions: Rows;
  readonly #devices: Rows;
  readonly #fields = new Map<string, SettingField>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(whep: Whep, dialog: HTMLDialogElement) {
    this.#whep = whep;
    this.#dialog = dialog;
    this.#note = this.#part(".owner-note");
    this.#sessions = new Rows(this.#part(".owner-sessions"), "Nobody is here.");
    this.#devices = new Rows(this.#part(".owner-devices"), "No device has paired.");
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
    const focused = document.activeElement;
    this.#renderSessions(owned);
    this.#renderDevices(owned);
    this.#renderInvitation(owned);
    this.#renderUpdate(owned);
    this.#renderSettings(owned);
    if (focused && !focused.isConnected) {
      // What had the focus is gone: the keyboard stays in the dialog, and nothing moves.
      this.#dialog.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    }
  }

  #renderSessions({ sessions }: Owned): void {
    const rows = sessions.map(({ number, device, role, address, lasts, bitrate, round_trip }) => {
      const who = device ?? (role === "player" ? "Player" : "Viewer");
      const rtt = round_trip === null ? "" : `, ${round_trip.toFixed(1)} ms`;
      const what = `${role === "player" ? "plays" : "watches"} from ${address ?? "nowhere yet"} for ${span(lasts)}, ${(bitrate / 1e6).toFixed(1)} Mbit/s${rtt}`;
      const end = () => void this.#wish({ end: { number } }, `${who} was sent away.`);
      return { key: `${number} ${who}`, name: who, what, buttons: () => [button("End", end)] };
    });
    this.#sessions.show(rows);
  }

  #renderDevices({ devices }: Owned): void {
    const rows = (devices ?? []).map(({ name, role, paired }) => {
      const when = new Date(paired * 1000).toLocaleDateString();
      const what = `may ${role === "play" ? "play" : "watch"}, paired on ${when}`;
      const rename = () => {
        const to = prompt(`Another name for ${name}`, name)?.trim();
        if (to && to !== name) {
          void this.#wish({ rename: { name, to } }, `${name} is ${to} now.`);
        }
      };
      const revoke = () =>
        void this.#wish({ revoke: { name } }, `${name} does not come in any more.`);
      const buttons = () => [button("Rename", rename), button("Revoke", revoke)];
      return { key: name, name, what, buttons };
    });
    this.#devices.show(rows);
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

  #renderUpdate({ update }: Owned): void {
    const parts: (string | Node)[] = [];
    if (update) {
      parts.push("Mimosa ", strong(update.version), " is there; this host has an older version.");
      // The host lets nothing but `https` through.
      if (update.page) {
        const link = document.createElement("a");
        link.href = update.page;
        link.rel = "noreferrer";
        link.target = "_blank";
        link.textContent = "About it";
        parts.push(" ", link);
      }
    }
    this.#part(".owner-update").replaceChildren(...parts);
  }

  #renderSettings({ settings, trouble }: Owned): void {
    this.#part(".owner-trouble").textContent = trouble;
    const place = this.#part(".owner-settings");
    if (settings.length !== this.#fields.size) {
      this.#fields.clear();
      place.replaceChildren();
    }
    let group = "";
    for (const setting of settings) {
      const known = this.#fields.get(setting.name);
      if (known) {
        known.update(setting);
        continue;
      }
      if (setting.group !== group) {
        group = setting.group;
        const title = document.createElement("h4");
        title.textContent = group;
        place.append(title);
      }
      const field = new SettingField(setting, (name, value) => {
        const done = `${words(name)} is changed from the host's next start on.`;
        return this.#wish({ setting: { name, value } }, done);
      });
      this.#fields.set(setting.name, field);
      place.append(field.whole);
    }
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
