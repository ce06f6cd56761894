// What is drawn of an answer: its lines, and the words of their colours.

import type { Answer, FlowSeries, Run, Series, Values } from "./answer";
import { type Line, type Plot, roomFor } from "./plot";

const COLORS = 6;
const PALE = 0.35;
const DASHES = [5, 4];
/** The axis of delays ends where so much of the frames has come, of 200 parts. */
const NEARLY_ALL = 199;

/** A flow of a run, with its look. */
export interface Drawn {
  readonly run: Run;
  readonly flow: FlowSeries;
  /** Its number among the run's flows. */
  readonly number: number;
  readonly label: string;
  readonly color: string;
  /** Whether it has its run's colour, in dashes. */
  readonly isDashed: boolean;
}

/** The flows of all runs, each with a colour of its own; but where runs are compared, TCP has that of
 * its run. */
export function flows({ runs }: Answer): Drawn[] {
  const drawn: Drawn[] = [];
  let used = 0;
  for (const run of runs) {
    const first = used;
    run.series.flows.forEach((flow, number) => {
      const isDashed = runs.length > 1 && flow.kind !== "video";
      const index = isDashed ? first : used++;
      const color = `--line-${index % COLORS}`;
      drawn.push({ run, flow, number, label: labelOf(run, flow), color, isDashed });
    });
  }
  return drawn;
}

function labelOf(run: Run, flow: FlowSeries): string {
  if (run.variant === null) {
    return flow.controller === null ? flow.name : `${flow.name}: ${flow.controller}`;
  }
  return run.series.flows.length > 1 ? `${run.variant}: ${flow.name}` : run.variant;
}

/** The points of values over seconds: each in the middle of its interval. */
function over({ bin_ms, duration_ms }: Series, values: Values): Line["points"] {
  const middle = (index: number) =>
    (index * bin_ms + Math.min((index + 1) * bin_ms, duration_ms)) / 2e3;
  return values.map((value, index) => [middle(index), value] as const);
}

/** The link's rate as steps, which reach from one end to the other. */
function linkOf({ bin_ms, duration_ms, links }: Series): Line {
  const values = links[0]?.rate_mbps ?? [];
  const points = values.map((value, index) => [(index * bin_ms) / 1e3, value] as const);
  const last = [duration_ms / 1e3, values.at(-1) ?? null] as const;
  return { color: "--link", points: [...points, last], isSteps: true, width: 1.5, dash: [2, 3] };
}

const dashes = ({ isDashed }: Drawn) => (isDashed ? { dash: DASHES } : {});

function seconds({ runs }: Answer): number {
  return Math.max(...runs.map(({ series }) => series.duration_ms)) / 1e3;
}

/** What each flow got, what it sent in pale, and the link's rate. */
export function rates(answer: Answer, drawn: readonly Drawn[]): Plot {
  const links: Line[] = [];
  for (const { series } of answer.runs) {
    const line = linkOf(series);
    if (!links.some(({ points }) => String(points) === String(line.points))) {
      links.push(line);
    }
  }
  const got = drawn.map((each): Line => {
    const { flow, run, color } = each;
    return { color, points: over(run.series, flow.arrived_mbps), ...dashes(each) };
  });
  const sent = drawn.map(
    ({ flow, run, color }): Line => ({
      color,
      points: over(run.series, flow.sent_mbps),
      width: 1,
      opacity: PALE,
    }),
  );
  const most = { x: seconds(answer), y: roomFor([...links, ...got], 1) };
  return { lines: [...sent, ...links, ...got], most };
}

/** Mean and worst frame delay. */
export function delays(answer: Answer, drawn: readonly Drawn[]): Plot {
  const videos = drawn.filter(({ flow }) => flow.kind === "video");
  const pale = videos.map(
    ({ flow, run, color }): Line => ({
      color,
      points: over(run.series, flow.delay_ms.worst),
      width: 1,
      opacity: PALE,
    }),
  );
  const means = videos.map(
    ({ flow, run, color }): Line => ({ color, points: over(run.series, flow.delay_ms.mean) }),
  );
  return { lines: [...pale, ...means], most: { x: seconds(answer), y: roomFor(pale, 10) } };
}

/** The share of frames that took at most so long, in percent. */
export function shares(drawn: readonly Drawn[]): Plot {
  const videos = drawn.filter(({ flow }) => flow.delays_ms.length > 1);
  let longest = 10;
  const lines = videos.map(({ flow, color }): Line => {
    const known = flow.delays_ms.filter((delay) => delay !== null);
    longest = Math.max(longest, known[Math.min(NEARLY_ALL, known.length - 1)] ?? 0);
    const parts = flow.delays_ms.length - 1;
    return { color, points: known.map((delay, index) => [delay, (index / parts) * 100] as const) };
  });
  return { lines, most: { x: longest * 1.05, y: 100 } };
}

/** Mean and worst wait in the queues; that of a second link in dashes. */
export function queues(answer: Answer, drawn: readonly Drawn[]): Plot {
  const pale: Line[] = [];
  const means: Line[] = [];
  for (const run of answer.runs) {
    const color = drawn.find((each) => each.run === run)?.color ?? "--line-0";
    run.series.links.forEach(({ wait_ms }, index) => {
      const dash = index > 0 ? { dash: DASHES } : {};
      const worst = over(run.series, wait_ms.worst);
      pale.push({ color, points: worst, width: 1, opacity: PALE, ...dash });
      means.push({ color, points: over(run.series, wait_ms.mean), ...dash });
    });
  }
  return { lines: [...pale, ...means], most: { x: seconds(answer), y: roomFor(pale, 10) } };
}
