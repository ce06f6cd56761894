// The statistics over the picture.

import { type Curve, drawGraph, type History, type Look, type Point } from "./graph";
import { latency, latencyTerms, rows, type Sources, short } from "./rows";

export class Overlay {
  readonly #panel: HTMLElement;
  readonly #short: HTMLElement;
  readonly #list: HTMLElement;
  readonly #line: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #rates: HTMLCanvasElement;
  readonly #use: HTMLCanvasElement;

  constructor(panel: HTMLElement) {
    this.#panel = panel;
    this.#short = part(panel, ".short");
    this.#list = part(panel, ".rows");
    this.#line = part(panel, ".latency-line");
    this.#bar = part(panel, ".latency-bar");
    this.#rates = part(panel, "canvas.rates") as HTMLCanvasElement;
    this.#use = part(panel, "canvas.use") as HTMLCanvasElement;
  }

  get visible(): boolean {
    return !this.#panel.hidden;
  }

  set visible(visible: boolean) {
    this.#panel.hidden = !visible;
  }

  /** Whether there is one line, and nothing else. */
  set isShort(isShort: boolean) {
    this.#short.hidden = !isShort;
    this.#panel.classList.toggle("is-short", isShort);
  }

  render(sources: Sources, history: History, now: number): void {
    if (!this.visible) {
      return;
    }
    if (!this.#short.hidden) {
      this.#short.textContent = short(sources);
      return;
    }
    this.#renderRows(sources);
    const way = latency(sources.statistics?.stages);
    this.#renderLine(way);
    this.#renderBar(way);
    this.#renderGraphs(history.points, now);
  }

  #renderRows(sources: Sources): void {
    const content = rows(sources);
    const shown = [...this.#list.children].map((row) => row.firstElementChild?.textContent);
    if (shown.join() !== content.map(({ label }) => label).join()) {
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

  #renderGraphs(points: readonly Point[], now: number): void {
    const last = points.at(-1);
    render(this.#rates, points, now, ratesCurves, true);
    const target = last?.target ? (last.target / 1e6).toFixed(1) : "unknown";
    const delay = last?.delay === null || last === undefined ? "unknown" : last.delay.toFixed(1);
    this.#rates.ariaLabel = `Last 30 seconds. Target now ${target} Mbit/s, frame delay ${delay} ms.`;

    this.#use.hidden = points.every(({ busy, queue }) => busy === null && queue === null);
    if (!this.#use.hidden) {
      render(this.#use, points, now, useCurves, false);
      const busy = last?.busy?.toFixed(2) ?? "unknown";
      const queue = last?.queue?.toFixed(1) ?? "unknown";
      this.#use.ariaLabel = `Last 30 seconds. Busy share now ${busy}, queueing delay ${queue} ms.`;
    }
  }
}

/** Axes reach at least so far, so that noise near zero does not fill the graph. */
function ratesCurves(colour: (name: string) => string): readonly [Curve, Curve] {
  return [
    {
      name: "target, Mbit/s",
      colour: colour("--target"),
      atLeast: 1,
      value: ({ target }) => (target === null ? null : target / 1e6),
    },
    {
      name: "frame delay, ms",
      colour: colour("--delay"),
      atLeast: 20,
      value: ({ delay }) => delay,
    },
  ];
}

/** A link in full use is at half the height. */
function useCurves(colour: (name: string) => string): readonly [Curve, Curve] {
  return [
    {
      name: "busy, %",
      colour: colour("--busy"),
      atMost: 200,
      atLeast: 200,
      value: ({ busy }) => (busy === null ? null : busy * 100),
    },
    {
      name: "queue, ms",
      colour: colour("--queue"),
      atLeast: 10,
      value: ({ queue }) => queue,
    },
  ];
}

function render(
  canvas: HTMLCanvasElement,
  points: readonly Point[],
  now: number,
  curves: (colour: (name: string) => string) => readonly [Curve, Curve],
  hasTimes: boolean,
): void {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const style = getComputedStyle(canvas);
  const [left, right] = curves((name) => style.getPropertyValue(name));
  drawGraph(canvas, points, now, look(style, hasTimes), left, right);
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

function look(style: CSSStyleDeclaration, hasTimes: boolean): Look {
  return {
    text: style.color,
    grid: style.getPropertyValue("--grid"),
    fontSize: Number.parseFloat(style.fontSize) * devicePixelRatio,
    fontFamily: style.fontFamily,
    hasTimes,
  };
}

function part(panel: HTMLElement, selector: string): HTMLElement {
  const found = panel.querySelector<HTMLElement>(selector);
  if (!found) {
    throw new Error(`the page has no ${selector}`);
  }
  return found;
}
