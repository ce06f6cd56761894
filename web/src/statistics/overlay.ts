// The statistics over the picture.

import { drawGraph, type History, type Look } from "./graph";
import { latency, latencyTerms, rows, type Sources } from "./rows";

export class Overlay {
  readonly #panel: HTMLElement;
  readonly #list: HTMLElement;
  readonly #line: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #canvas: HTMLCanvasElement;

  constructor(panel: HTMLElement) {
    this.#panel = panel;
    this.#list = part(panel, ".rows");
    this.#line = part(panel, ".latency-line");
    this.#bar = part(panel, ".latency-bar");
    this.#canvas = part(panel, "canvas") as HTMLCanvasElement;
  }

  get visible(): boolean {
    return !this.#panel.hidden;
  }

  set visible(visible: boolean) {
    this.#panel.hidden = !visible;
  }

  render(sources: Sources, history: History, now: number): void {
    if (!this.visible) {
      return;
    }
    this.#renderRows(sources);
    const way = latency(sources.statistics?.stages);
    this.#renderLine(way);
    this.#renderBar(way);
    this.#renderGraph(history, now);
  }

  #renderRows(sources: Sources): void {
    const content = rows(sources);
    if (this.#list.children.length !== content.length) {
      this.#list.replaceChildren(...content.map(rowElement));
    }
    for (const [index, row] of content.entries()) {
      const value = this.#list.children[index]?.lastElementChild;
      if (value && value.textContent !== row.value) {
        value.textContent = row.value;
      }
    }
  }

  /** Each term in a span of its own, which has the colour of its part of the bar. */
  #renderLine(way: ReturnType<typeof latency>): void {
    const { terms, sum } = latencyTerms(way);
    const pieces: (string | Node)[] = [];
    for (const term of terms) {
      const span = document.createElement("span");
      span.textContent = term;
      pieces.push(pieces.length === 0 ? "" : " + ", span);
    }
    const total = document.createElement("strong");
    // Held together by spaces that do not break.
    total.textContent = `=\u00a0${sum.replace(" ", "\u00a0")}`;
    this.#line.replaceChildren(...pieces, " ", total);
  }

  #renderBar({ parts, total }: ReturnType<typeof latency>): void {
    while (this.#bar.children.length < parts.length) {
      this.#bar.append(document.createElement("span"));
    }
    for (const [index, segment] of [...this.#bar.children].entries()) {
      const value = parts[index]?.value ?? 0;
      // Through the object model: the content policy allows no style attributes.
      (segment as HTMLElement).style.flexGrow = String(Math.max(0, value));
    }
    this.#bar.hidden = !total;
  }

  #renderGraph(history: History, now: number): void {
    const canvas = this.#canvas;
    const width = Math.round(canvas.clientWidth * devicePixelRatio);
    const height = Math.round(canvas.clientHeight * devicePixelRatio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    drawGraph(canvas, history.points, now, look(canvas));
    const last = history.points.at(-1);
    const target = last?.target ? (last.target / 1e6).toFixed(1) : "unknown";
    const delay = last?.delay === null || last === undefined ? "unknown" : last.delay.toFixed(1);
    canvas.ariaLabel = `Last 30 seconds. Target now ${target} Mbit/s, frame delay ${delay} ms.`;
  }
}

function rowElement({ label, value, title }: { label: string; value: string; title: string }) {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  const description = document.createElement("dd");
  row.title = title;
  term.textContent = label;
  description.textContent = value;
  row.append(term, description);
  return row;
}

function look(canvas: HTMLCanvasElement): Look {
  const style = getComputedStyle(canvas);
  return {
    target: style.getPropertyValue("--target"),
    delay: style.getPropertyValue("--delay"),
    text: style.color,
    grid: style.getPropertyValue("--grid"),
    fontSize: Number.parseFloat(style.fontSize) * devicePixelRatio,
    fontFamily: style.fontFamily,
  };
}

function part(panel: HTMLElement, selector: string): HTMLElement {
  const found = panel.querySelector<HTMLElement>(selector);
  if (!found) {
    throw new Error(`the page has no ${selector}`);
  }
  return found;
}
