// Graphs of the last half minute: one curve on the left axis, one on the right.

export interface Point {
  /** Milliseconds on the page's clock. */
  readonly time: number;
  /** bit/s; null where the host does not know. */
  readonly target: number | null;
  /** Milliseconds. */
  readonly delay: number | null;
  /** Share of the link in use, as the controller sees it; above one with a queue. */
  readonly busy: number | null;
  /** Milliseconds in queues, as the controller sees it. */
  readonly queue: number | null;
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

/** One of a graph's two lines, with its axis. */
export interface Curve {
  /** With its unit. */
  readonly name: string;
  readonly colour: string;
  /** Its axis reaches at least this far. */
  readonly atLeast: number;
  /** Its axis never reaches further: what is above is drawn at the top. */
  readonly atMost?: number;
  readonly value: (point: Point) => number | null;
}

export interface Look {
  readonly text: string;
  readonly grid: string;
  /** Height of the letters in the canvas's pixels. */
  readonly fontSize: number;
  readonly fontFamily: string;
  /** Whether times stand below. */
  readonly hasTimes: boolean;
}

/** A curve without a value has no axis either. */
export function drawGraph(
  canvas: HTMLCanvasElement,
  points: readonly Point[],
  now: number,
  look: Look,
  left: Curve,
  right: Curve,
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
    height: canvas.height - fontSize * (look.hasTimes ? 3.6 : 2.5),
  };
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.font = `${fontSize}px ${look.fontFamily}`;
  context.lineJoin = "round";
  drawGrid(context, frame, look);
  const sides = [
    { curve: left, align: "left", width: fontSize / 6 },
    { curve: right, align: "right", width: fontSize / 10 },
  ] as const;
  for (const { curve, align, width } of sides) {
    const lines = runs(points, curve.value);
    if (lines.length > 0) {
      const end = endOf(lines, curve);
      drawAxis(context, frame, fontSize, curve, align, end);
      drawLine(context, lines, frame, now, end, curve.colour, width);
    }
  }
}

/** Where a curve's axis ends. */
export function endOf(lines: ReturnType<typeof runs>, { atLeast, atMost }: Curve): number {
  const largest = Math.max(0, ...lines.flat().map(({ value }) => value));
  return axisEnd(Math.min(largest, atMost ?? largest), atLeast);
}

function drawGrid(context: CanvasRenderingContext2D, frame: Frame, look: Look): void {
  const { fontSize } = look;
  const right = frame.left + frame.width;
  context.strokeStyle = look.grid;
  context.lineWidth = Math.max(1, fontSize / 14);
  context.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    const y = yOf(share, 1, frame);
    context.beginPath();
    context.moveTo(frame.left, y);
    context.lineTo(right, y);
    context.stroke();
  }
  if (look.hasTimes) {
    const below = frame.top + frame.height + fontSize * 1.1;
    label(context, look.text, "left", "−30 s", frame.left, below);
    label(context, look.text, "center", "−15 s", frame.left + frame.width / 2, below);
    label(context, look.text, "right", "now", right, below);
  }
}

/** The curve's name above its end of the graph, and figures beside the grid. */
function drawAxis(
  context: CanvasRenderingContext2D,
  frame: Frame,
  fontSize: number,
  { name, colour }: Curve,
  side: "left" | "right",
  end: number,
): void {
  const isLeft = side === "left";
  const beside = isLeft ? frame.left - fontSize * 0.5 : frame.left + frame.width + fontSize * 0.5;
  for (const share of [0, 0.5, 1]) {
    const y = yOf(share, 1, frame);
    label(context, colour, isLeft ? "right" : "left", axisText(end * share), beside, y);
  }
  const above = frame.top - fontSize * 1.2;
  label(context, colour, side, name, isLeft ? 0 : context.canvas.width, above);
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
