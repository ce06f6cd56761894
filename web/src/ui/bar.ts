// The bar of controls in the corner.

import { element, setToggle } from "./dom";

export interface BarListener {
  play(): void;
  fullscreen(): void;
  statistics(): void;
  mute(): void;
  leave(): void;
}

export interface BarSources {
  readonly playing: boolean;
  readonly watching: boolean;
  readonly running: boolean;
  /** Keys and pointer go to the game. */
  readonly taken: boolean;
  readonly statistics: boolean;
  readonly fullscreen: boolean;
  /** There is sound. */
  readonly sound: boolean;
  /** It is not played, by the person's choice or the browser's. */
  readonly muted: boolean;
}

export class Bar {
  readonly #play = element("play");
  readonly #fullscreen = element("fullscreen");
  readonly #statistics = element("statistics-toggle");
  readonly #mute = element("mute");
  readonly #leave = element("leave");
  readonly #toggle = element("bar-toggle");
  readonly #role = element("role");
  #wasUndisturbed = false;

  constructor(listener: BarListener) {
    this.#play.addEventListener("click", () => listener.play());
    this.#fullscreen.addEventListener("click", () => listener.fullscreen());
    this.#statistics.addEventListener("click", () => listener.statistics());
    this.#mute.addEventListener("click", () => listener.mute());
    this.#leave.addEventListener("click", () => listener.leave());
    this.#toggle.addEventListener("click", () => this.#fold(this.#expanded));
    // A press on a control does not take the keys from the game.
    element("bar").addEventListener("mousedown", (event) => event.preventDefault());
    this.#fullscreen.hidden = !document.fullscreenEnabled;
    // Where only icons fit, the words come on pointing.
    for (const button of element("bar").querySelectorAll("button")) {
      const words = button.querySelector("span")?.textContent ?? "";
      button.title = words;
    }
  }

  render(sources: BarSources): void {
    this.#play.hidden = !sources.playing;
    setToggle(this.#play, sources.taken, sources.taken ? "Release" : "Play");
    this.#play.title = sources.taken ? "Release" : "Play";
    setToggle(this.#fullscreen, sources.fullscreen);
    setToggle(this.#statistics, sources.statistics);
    this.#mute.hidden = !sources.sound;
    setToggle(this.#mute, sources.muted, sources.muted ? "Unmute" : "Mute");
    this.#mute.title = sources.muted ? "Unmute" : "Mute";
    this.#leave.hidden = !sources.running;
    this.#role.hidden = !sources.watching;
    const undisturbed = sources.taken || sources.watching;
    if (undisturbed !== this.#wasUndisturbed) {
      this.#wasUndisturbed = undisturbed;
      this.#fold(undisturbed);
    }
  }

  get #expanded(): boolean {
    return this.#toggle.getAttribute("aria-expanded") === "true";
  }

  #fold(fold: boolean): void {
    this.#toggle.setAttribute("aria-expanded", String(!fold));
  }
}
