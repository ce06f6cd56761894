// Text that no key says: dead keys, input methods, the keyboards of phones.
//
// A field that nobody sees has the focus and lets the browser compose in it. What comes
// of that is sent as characters, and the field is empty again.

import { encodeCharacter, encodeKey } from "./encode";
import { linuxKeyCode } from "./keys";

export interface TextHost {
  /** Whether text goes to the host. */
  active(): boolean;
  send(data: ArrayBuffer): void;
}

/** Where a screen keyboard tells no key, what it does to the field is a key. */
const EDITS: Readonly<Record<string, string>> = {
  deleteContentBackward: "Backspace",
  deleteContentForward: "Delete",
  insertLineBreak: "Enter",
  insertParagraph: "Enter",
};

/** The part of a `KeyboardEvent` that says who takes it. */
export type Typed = Pick<KeyboardEvent, "key" | "isComposing">;

/** Whether a key is a part of something composed, which the browser must have. */
export function composes({ key, isComposing }: Typed): boolean {
  return isComposing || key === "Dead" || key === "Process" || key === "Unidentified";
}

/** The messages of a text: a character each, lines ended by a key. */
export function encodeText(text: string, time: number): ArrayBuffer[] {
  return [...text.replaceAll("\r\n", "\n")].flatMap((character) => {
    if (character === "\n") {
      return encodePress("Enter", time);
    }
    // No control characters (general category Cc).
    return /\p{Cc}/u.test(character) ? [] : [encodeCharacter(character.codePointAt(0) ?? 0, time)];
  });
}

function encodePress(name: string, time: number): ArrayBuffer[] {
  const code = linuxKeyCode(name) ?? 0;
  return [encodeKey(code, true, time), encodeKey(code, false, time)];
}

/** What a change of the field says: messages, none for what is composed still. */
export function encodeChange(
  change: Pick<InputEvent, "inputType" | "data" | "isComposing">,
  time: number,
): ArrayBuffer[] {
  if (change.isComposing) {
    return [];
  }
  const key = EDITS[change.inputType];
  if (key !== undefined) {
    return encodePress(key, time);
  }
  return change.inputType === "insertText" ? encodeText(change.data ?? "", time) : [];
}

export class TextField {
  readonly #field: HTMLTextAreaElement;
  readonly #host: TextHost;

  constructor(field: HTMLTextAreaElement, host: TextHost) {
    this.#field = field;
    this.#host = host;
    field.addEventListener("beforeinput", (event) => {
      // What is composed cannot be kept away, and is told at its end.
      if (!event.isComposing) {
        event.preventDefault();
        this.#tell(encodeChange(event, performance.now()));
      }
    });
    field.addEventListener("compositionend", ({ data }) => {
      this.#tell(encodeText(data, performance.now()));
      field.value = "";
    });
  }

  focus(): void {
    this.#field.focus({ preventScroll: true });
  }

  #tell(messages: readonly ArrayBuffer[]): void {
    if (this.#host.active()) {
      for (const message of messages) {
        this.#host.send(message);
      }
    }
  }
}
