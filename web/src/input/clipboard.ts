// Text that is copied on one side and pasted on the other, where the host allows it.
//
// Browsers let a page write the clipboard while it has the focus, some only in answer to
// a press; and read it with the person's permission.

/** No message of `control` is larger; the host takes none that is. */
const LONGEST_MESSAGE = 65536;

export interface ClipboardHost {
  /** Whether text is exchanged now. */
  active(): boolean;
  send(message: string): void;
  hint(text: string): void;
}

/** The parts of the browser that are used. */
export interface ClipboardBrowser {
  /** Absent in a page that is not secure. */
  readonly clipboard: Pick<Clipboard, "readText" | "writeText"> | undefined;
  /** Whether reading is `granted`, `denied` or has to be asked for, which is `prompt`. */
  permission(): Promise<PermissionState>;
}

export class SharedClipboard {
  readonly #host: ClipboardHost;
  readonly #browser: ClipboardBrowser;
  /** The text that both sides have. */
  #shared = "";
  /** The host's, until the browser lets it be written. */
  #waiting: string | undefined;
  #hinted = false;

  constructor(host: ClipboardHost, browser: ClipboardBrowser = ownBrowser()) {
    this.#host = host;
    this.#browser = browser;
  }

  /** A new session's host has other text. */
  reset(): void {
    this.#shared = "";
    this.#waiting = undefined;
  }

  /** A program at the host has copied this. */
  async copied(text: string): Promise<void> {
    this.#waiting = text;
    await this.write();
  }

  /** Writes what waits; to be called again when the person presses something. */
  async write(): Promise<void> {
    const text = this.#waiting;
    if (text === undefined || !this.#host.active()) {
      return;
    }
    try {
      await this.#browser.clipboard?.writeText(text);
    } catch {
      return;
    }
    this.#shared = text;
    if (this.#waiting === text) {
      this.#waiting = undefined;
    }
  }

  /**
   * The person comes back to the game, perhaps with something copied. `pressed`: by a
   * press, in answer to which the browser may ask them.
   */
  async read(pressed: boolean): Promise<void> {
    if (!this.#host.active()) {
      return;
    }
    const state = this.#browser.clipboard ? await this.#browser.permission() : "denied";
    if (state === "prompt" && !pressed) {
      return;
    }
    let text = "";
    try {
      if (state !== "denied") {
        text = (await this.#browser.clipboard?.readText()) ?? "";
      }
    } catch {
      this.#refused();
      return;
    }
    if (state === "denied") {
      this.#refused();
    } else if (text !== "" && text !== this.#shared && this.#host.active()) {
      this.#tell(text);
    }
  }

  #tell(text: string): void {
    this.#shared = text;
    const message = JSON.stringify({ type: "clipboard", text });
    if (new TextEncoder().encode(message).length <= LONGEST_MESSAGE) {
      this.#host.send(message);
    } else {
      this.#host.hint("What you copied is too long for the game's clipboard.");
    }
  }

  #refused(): void {
    if (!this.#hinted) {
      this.#hinted = true;
      this.#host.hint("The browser does not let this page read the clipboard.");
    }
  }
}

function ownBrowser(): ClipboardBrowser {
  return {
    clipboard: navigator.clipboard as Clipboard | undefined,
    async permission() {
      try {
        // The name is not in every browser, nor in TypeScript's library.
        const name = "clipboard-read" as PermissionName;
        return (await navigator.permissions.query({ name })).state;
      } catch {
        return "prompt";
      }
    },
  };
}
