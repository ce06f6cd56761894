// Rows of the owner's dialog that stay where they are while the host's answers change what they say, so that
// neither the focus nor a button that is being pressed is lost.

export interface Row {
  /** What the row is about; rows with the same key are one row. */
  readonly key: string;
  readonly name: string;
  readonly what: string;
  /** Makes the buttons of a new row. */
  readonly buttons: () => readonly HTMLElement[];
}

interface Shown {
  readonly whole: HTMLElement;
  readonly small: HTMLElement;
}

export class Rows {
  readonly #place: HTMLElement;
  readonly #none: HTMLElement;
  readonly #shown = new Map<string, Shown>();

  /** Rows in `place`, or the text `none`. */
  constructor(place: HTMLElement, none: string) {
    this.#place = place;
    this.#none = document.createElement("p");
    this.#none.textContent = none;
  }

  show(rows: readonly Row[]): void {
    const keys = new Set(rows.map(({ key }) => key));
    for (const [key, { whole }] of this.#shown) {
      if (!keys.has(key)) {
        whole.remove();
        this.#shown.delete(key);
      }
    }
    for (const row of rows) {
      let shown = this.#shown.get(row.key);
      if (!shown) {
        shown = made(row);
        this.#shown.set(row.key, shown);
        this.#place.append(shown.whole);
      }
      if (shown.small.textContent !== row.what) {
        shown.small.textContent = row.what;
      }
    }
    if (rows.length > 0) {
      this.#none.remove();
    } else {
      this.#place.append(this.#none);
    }
  }
}

function made({ name, buttons }: Row): Shown {
  const whole = document.createElement("div");
  const text = document.createElement("span");
  const small = document.createElement("small");
  text.append(name, small);
  whole.append(text, ...buttons());
  return { whole, small };
}
