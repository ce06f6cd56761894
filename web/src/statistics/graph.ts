// The last half minute: target bitrate on the left axis, frame delay on the right.

export interface Point {
  /** Milliseconds on the page's clock. */
  readonly time: number;
  /** bit/s; null where the host does not know. */
  readonly target: number | null;
  /** Milliseconds. */
  readonly delay: number | null;
}

/** How far back the graph reaches. */
export const SPAN = 30_000;
/** Points further apart are not joined by a line: something was interrupted. */
const GAP = 1500;

export class History {
  #points: Point[] = [];

  add(point: Point): void {
    this.#points.push(point);
    this.#points = this.#points.filter(({ time }) => point.time - time <= SPAN);
  }

  get points(): readonly Point[] {
    return this.#points;
  }
}

/** The end of an axis: the next of 1, 2, 2.5, 5, 10, … at or above `largest`. */
export function axisEnd(largest: number, atLeast: number): number {
  const wanted = Math.max(largest, atLeast);
  const power = 10 ** Math.floor(Math.log10(wanted));
  for (const step of [1, 2, 2.5, 5]) {
    if (wanted <= step * power * (1 + 1e-9)) {
      return step * power;
    }
  }
  return 10 * power;
}

export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** From left (30 s ago) to right (now). */
export function xOf(time: number, now: number, frame: Frame): number {
  return frame.left + frame.width * (1 - (now - time) / SPAN);
}

/** From bottom (0) to top (`end`). */
export function yOf(value: number, end: number, frame: Frame): number {
  return frame.top + frame.height * (1 - Math.min(1, Math.max(0, value / end)));
}

/** Runs of points that a line may join, without those whose value is unknown. */
export function runs(
  points: readonly Point[],
  value: (point: Point) => number | null,
): readonly (readonly { readonly time: number; readonly value: number }[])[] {
  const found: { time: number; value: number }[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const point of points) {
    const known = value(point);
    if (known === null) {
      last = Number.NEGATIVE_INFINITY;
      continue;
    }
    if (point.time - last > GAP) {
      found.push([]);
    }
    found.at(-1)?.push({ time: point.time, value: known });
    last = point.time;
  }
  return found;
}

export interface Look {
  readonly target: string;
  readonly delay: string;
  readonly text: string;
  readonly grid: string;
  /** Height of the letters in the canvas's pixels. */
  readonly fontSize: number;
  readonly fontFamily: string;
}

const MEGABIT = 1e6;
/** Axes reach at least this far, so that noise near zero does not fill the graph. */
const LEAST_MEGABITS = 1;
const LEAST_DELAY = 20;

export function drawGraph(
  canvas: HTMLCanvasElement,
  points: readonly Point[],
  now: number,
  look: Look,
): void {
  const context = canvas.getContext("2d");
  if (!context) {
    return;
  }
  const { fontSize } = look;
  const frame: Frame = {
    left: fontSize * 2.6,
    top: fontSize * 1.9,
    width: canvas.width - fontSize * 5.2,
    height: canvas.height - fontSize * 3.6,
  };
  const megabits = (point: Point) => (point.target === null ? null : point.target / MEGABIT);
  const delay = (point: Point) => point.delay;
  const leftEnd = axisEnd(largest(points, megabits), LEAST_MEGABITS);
  const rightEnd = axisEnd(largest(points, delay), LEAST_DELAY);

  context.clearRect(0, 0, canvas.width, canvas.height);
  context.font = `${fontSize}px ${look.fontFamily}`;
  context.lineJoin = "round";
  drawAxes(context, frame, look, leftEnd, rightEnd);
  drawLine(context, runs(points, megabits), frame, now, leftEnd, look.target, fontSize / 6);
  drawLine(context, runs(points, delay), frame, now, rightEnd, look.delay, fontSize / 10);
}

function drawAxes(
  context: CanvasRenderingContext2D,
  frame: Frame,
  look: Look,
  leftEnd: number,
  rightEnd: number,
): void {
  const { fontSize } = look;
  const right = frame.left + frame.width;
  const bottom = frame.top + frame.height;
  context.strokeStyle = look.grid;
  context.lineWidth = Math.max(1, fontSize / 14);
  context.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    const y = yOf(share, 1, frame);
    context.beginPath();
    context.moveTo(frame.left, y);
    context.lineTo(right, y);
    context.stroke();
    label(context, look.target, "right", axisText(leftEnd * share), frame.left - fontSize * 0.5, y);
    label(context, look.delay, "left", axisText(rightEnd * share), right + fontSize * 0.5, y);
  }
  const above = frame.top - fontSize * 1.2;
  label(context, look.target, "left", "target, Mbit/s", 0, above);
  label(context, look.delay, "right", "frame delay, ms", context.canvas.width, above);
  const below = bottom + fontSize * 1.1;
  label(context, look.text, "left", "−30 s", frame.left, below);
  label(context, look.text, "center", "−15 s", frame.left + frame.width / 2, below);
  label(context, look.text, "right", "now", right, below);
}

function drawLine(
  context: CanvasRenderingContext2D,
  lines: ReturnType<typeof runs>,
  frame: Frame,
  now: number,
  end: number,
  colour: string,
  width: number,
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  for (const line of lines) {
    context.beginPath();
    for (const { time, value } of line) {
      context.lineTo(xOf(time, now, frame), yOf(value, end, frame));
    }
    context.stroke();
  }
}

function label(
  context: CanvasRenderingContext2D,
  colour: string,
  align: CanvasTextAlign,
  text: string,
  x: number,
  y: number,
): void {
  context.fillStyle = colour;
  context.textAlign = align;
  context.fillText(text, x, y);
}

function axisText(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function largest(points: readonly Point[], value: (point: Point) => number | null): number {
  return points.reduce((before, point) => Math.max(before, value(point) ?? 0), 0);
}
