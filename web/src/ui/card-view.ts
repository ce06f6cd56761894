// The card's elements.

import { ACTION_WORDS, type CardAction, type CardContent, deviceName } from "./card";
import { element, setText } from "./dom";

export interface CardListener {
  action(action: CardAction): void;
  token(token: string): void;
  pair(pin: string, name: string): void | Promise<void>;
}

export class CardView {
  readonly #card = element("card");
  readonly #title = element("card-title");
  readonly #text = element("card-text");
  readonly #form = element<HTMLFormElement>("token-form");
  readonly #token = element<HTMLInputElement>("token");
  readonly #pinForm = element<HTMLFormElement>("pin-form");
  readonly #pin = element<HTMLInputElement>("pin");
  readonly #device = element<HTMLInputElement>("device");
  readonly #actions = element("card-actions");
  readonly #listener: CardListener;
  #shown = "";

  constructor(listener: CardListener, note: string) {
    this.#listener = listener;
    const noteLine = element("card-note");
    noteLine.hidden = note === "";
    setText(noteLine, note);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const token = this.#token.value.trim();
      if (token) {
        this.#token.value = "";
        listener.token(token);
      }
    });
    this.#device.value = deviceName(navigator.userAgent);
    this.#pinForm.addEventListener("submit", (event) => {
      event.preventDefault();
      const pin = this.#pin.value;
      this.#pin.value = "";
      listener.pair(pin, this.#device.value.trim());
    });
  }

  render(content: CardContent | undefined): void {
    this.#card.hidden = content === undefined;
    const shown = JSON.stringify(content) ?? "";
    if (shown === this.#shown || !content) {
      this.#shown = shown;
      return;
    }
    this.#shown = shown;
    setText(this.#title, content.title);
    setText(this.#text, content.text);
    this.#text.hidden = content.text === "";
    this.#form.hidden = !content.token;
    this.#pinForm.hidden = !content.pin;
    const buttons = content.actions.map((action) => this.#button(action));
    const main = content.token || content.pin ? undefined : buttons[0];
    main?.classList.add("primary");
    this.#actions.replaceChildren(...buttons);
    const first = content.pin ? this.#pin : content.token ? this.#token : main;
    first?.focus({ preventScroll: true });
  }

  #button(action: CardAction): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.action = action;
    button.textContent = ACTION_WORDS[action];
    button.addEventListener("click", () => this.#listener.action(action));
    return button;
  }
}
