// Draws lines on a canvas, with axes.

export interface Line {
  /** The name of a custom property of style.css. */
  readonly color: string;
  /** Points from left to right; a null is a gap. */
  readonly points: readonly (readonly [number, number | null])[];
  readonly width?: number;
  readonly dash?: readonly number[];
  /** How opaque it is, from 0 to 1. */
  readonly opacity?: number;
  /** Whether each value holds until the next point. */
  readonly isSteps?: boolean;
}

export interface Plot {
  readonly lines: readonly Line[];
  /** The highest value of each axis; what is beyond is cut off. */
  readonly most: { readonly x: number; readonly y: number };
}

const MARGIN = { left: 44, right: 10, top: 8, bottom: 22 };
const FONT = "12px system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif";

/** A step of 1, 2 or 5 times a power of ten that cuts `most` into about `count` parts. */
export function niceStep(most: number, count: number): number {
  const rough = most / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10;
  return factor * power;
}

/** The multiples of a nice step from zero to `most`. */
export function ticks(most: number, count: number): number[] {
  const step = niceStep(most, count);
  const found = [];
  for (let index = 0; index * step <= most * 1.0001; index++) {
    found.push(Number((index * step).toPrecision(12)));
  }
  return found;
}

/** The highest of the lines' values, with a little room above, and at least `least`. */
export function roomFor(lines: readonly Line[], least: number): number {
  let highest = least;
  for (const { points } of lines) {
    for (const [, y] of points) {
      highest = Math.max(highest, y ?? 0);
    }
  }
  return highest * 1.05;
}

/** Draws the plot over all of the canvas, as large as the page shows it. */
export function draw(canvas: HTMLCanvasElement, plot: Plot): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  if (!context || width === 0) {
    return;
  }
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const area = {
    left: MARGIN.left,
    top: MARGIN.top,
    right: width - MARGIN.right,
    bottom: height - MARGIN.bottom,
  };
  const x = (value: number) => area.left + (value / plot.most.x) * (area.right - area.left);
  const y = (value: number) => area.bottom - (value / plot.most.y) * (area.bottom - area.top);
  axes(context, style, plot, area, x, y);
  context.save();
  context.beginPath();
  context.rect(area.left, area.top - 2, area.right - area.left, area.bottom - area.top + 3);
  context.clip();
  context.lineJoin = "round";
  for (const line of plot.lines) {
    stroke(context, style, line, x, y);
  }
  context.restore();
}

type Position = (value: number) => number;

function axes(
  context: CanvasRenderingContext2D,
  style: CSSStyleDeclaration,
  { most }: Plot,
  area: { left: number; right: number; top: number; bottom: number },
  x: Position,
  y: Position,
): void {
  context.font = FONT;
  context.lineWidth = 1;
  context.strokeStyle = style.getPropertyValue("--edge");
  context.fillStyle = style.getPropertyValue("--muted");
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of ticks(most.y, (area.bottom - area.top) / 36)) {
    const at = Math.round(y(value)) + 0.5;
    context.beginPath();
    context.moveTo(area.left, at);
    context.lineTo(area.right, at);
    context.stroke();
    context.fillText(String(value), area.left - 7, at);
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const value of ticks(most.x, (area.right - area.left) / 64)) {
    context.fillText(String(value), Math.min(x(value), area.right - 6), area.bottom + 7);
  }
}

function stroke(
  context: CanvasRenderingContext2D,
  style: CSSStyleDeclaration,
  line: Line,
  x: Position,
  y: Position,
): void {
  context.strokeStyle = style.getPropertyValue(line.color);
  context.globalAlpha = line.opacity ?? 1;
  context.lineWidth = line.width ?? 1.75;
  context.setLineDash([...(line.dash ?? [])]);
  context.beginPath();
  let before: number | null = null;
  for (const [at, value] of line.points) {
    if (value !== null) {
      if (before === null) {
        context.moveTo(x(at), y(value));
      } else {
        if (line.isSteps) {
          context.lineTo(x(at), y(before));
        }
        context.lineTo(x(at), y(value));
      }
    }
    before = value;
  }
  context.stroke();
  context.globalAlpha = 1;
}
