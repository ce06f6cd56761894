// Keys: by their place on the keyboard, each told once down and once up.

import { encodeKey, encodeReleaseAll } from "./encode";
import { linuxKeyCode } from "./keys";

export interface KeyboardHost {
  /** Whether keys go to the host; otherwise the page keeps its own. */
  active(): boolean;
  send(data: ArrayBuffer): void;
  /** Whether the browser is to make text of it. */
  composes(event: Stroke): boolean;
  /** What a combination with Ctrl+Alt+Shift does; true if it does something. */
  combination(code: string): boolean;
}

/** The part of a `KeyboardEvent` that decides. */
export type Stroke = Pick<
  KeyboardEvent,
  "code" | "key" | "isComposing" | "repeat" | "ctrlKey" | "altKey" | "shiftKey" | "preventDefault"
>;

export class Keyboard {
  readonly #host: KeyboardHost;
  readonly #held = new Set<string>();
  /** macOS does not tell that a key was let go while Command is down. */
  readonly #losesKeysWithMeta: boolean;

  constructor(host: KeyboardHost, losesKeysWithMeta: boolean) {
    this.#host = host;
    this.#losesKeysWithMeta = losesKeysWithMeta;
  }

  down(event: Stroke): void {
    if (event.ctrlKey && event.altKey && event.shiftKey && !isModifier(event.code)) {
      // These belong to the page and the browser, also while playing.
      if (event.repeat || this.#host.combination(event.code)) {
        event.preventDefault();
      }
      return;
    }
    if (!this.#host.active()) {
      return;
    }
    const name = nameOf(event);
    const code = linuxKeyCode(name);
    if (code === undefined || this.#host.composes(event)) {
      return;
    }
    event.preventDefault();
    if (!event.repeat && !this.#held.has(name)) {
      this.#held.add(name);
      this.#host.send(encodeKey(code, true, performance.now()));
    }
  }

  up(event: Stroke): void {
    const name = nameOf(event);
    if (this.#held.has(name)) {
      event.preventDefault();
      this.#letGo(name);
    }
    if (this.#losesKeysWithMeta && event.code.startsWith("Meta")) {
      for (const code of [...this.#held].filter((held) => !isModifier(held))) {
        this.#letGo(code);
      }
    }
  }

  /** Every key and button is up: the page has lost the focus. */
  releaseAll(): void {
    this.#held.clear();
    this.#host.send(encodeReleaseAll(performance.now()));
  }

  /** A new session knows of no key. */
  reset(): void {
    this.#held.clear();
  }

  #letGo(code: string): void {
    this.#held.delete(code);
    this.#host.send(encodeKey(linuxKeyCode(code) ?? 0, false, performance.now()));
  }
}

/** Screen keyboards have no places; Enter and the like are named alike by what they do. */
function nameOf(event: Stroke): string {
  return event.code || event.key;
}

function isModifier(code: string): boolean {
  return /^(Control|Alt|Shift|Meta)(Left|Right)$/.test(code);
}
