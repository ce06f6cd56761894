/** An element that index.html has. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`the page has no #${id}`);
  }
  return found as T;
}

/** Sets a text only if it is another: readers announce every change. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}

/** Words and pressed state of a button that switches something. */
export function setToggle(button: HTMLElement, pressed: boolean, words?: string): void {
  button.setAttribute("aria-pressed", String(pressed));
  const label = button.querySelector("span");
  if (words && label) {
    setText(label, words);
  }
}
