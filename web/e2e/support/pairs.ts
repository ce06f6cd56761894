// Two controllers in turn: what the one's figures are of the other's.

/** Which of the two. */
export type Side = "A" | "B";

/** What one run came to. */
export interface Run {
  readonly network: string;
  /** From one. */
  readonly pair: number;
  readonly side: Side;
  /** Why its figures are to be taken with care; empty when nothing is. */
  readonly marks: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** A figure as the table shows it. */
export interface Measure {
  readonly key: string;
  readonly label: string;
  readonly decimals: number;
}

/** The middle, the least and the greatest of some values; `undefined` of none. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

export function spread(values: readonly number[]): Spread | undefined {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [least, most] = [sorted[0], sorted.at(-1)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.floor(sorted.length / 2)];
  if (least === undefined || most === undefined || low === undefined || high === undefined) {
    return undefined;
  }
  return { median: (low + high) / 2, least, most, count: sorted.length };
}

/** B's figure over A's in each pair that has both, and has A's above zero. */
export function ratios(runs: readonly Run[], key: string): number[] {
  const value = (pair: number, side: Side) =>
    runs.find((run) => run.pair === pair && run.side === side)?.figures[key] ?? Number.NaN;
  const pairs = [...new Set(runs.map(({ pair }) => pair))];
  return pairs
    .map((pair) => value(pair, "B") / value(pair, "A"))
    .filter((ratio) => Number.isFinite(ratio));
}

/** The table of one network: both sides and the ratios, each as median and spread. */
export function table(
  title: string,
  names: Readonly<Record<Side, string>>,
  runs: readonly Run[],
  measures: readonly Measure[],
): string {
  const of = (side: Side, key: string) =>
    spread(
      runs.filter((run) => run.side === side).map(({ figures }) => figures[key] ?? Number.NaN),
    );
  const cells = (found: Spread | undefined, decimals: number) => {
    if (!found) {
      return ["-", "-"];
    }
    const [median, least, most] = [found.median, found.least, found.most].map((value) =>
      value.toFixed(decimals),
    );
    return [median, `${least} to ${most}`];
  };
  const rows = measures.map(({ key, label, decimals }) => {
    const found = spread(ratios(runs, key));
    const sides = (["A", "B"] as const).flatMap((side) => cells(of(side, key), decimals));
    return [label, ...sides, ...cells(found, 3), found?.count ?? 0];
  });
  const header = [title, names.A, "least to most", names.B, "least to most"];
  return [
    [...header, `${names.B} / ${names.A}`, "least to most", "pairs"],
    ["---", "--:", "---", "--:", "---", "--:", "---", "--:"],
    ...rows,
  ]
    .map((row) => `| ${row.join(" | ")} |\n`)
    .join("");
}

/** The runs with marks, a line each; says so where there are none. */
export function marked(names: Readonly<Record<Side, string>>, runs: readonly Run[]): string {
  const lines = runs
    .filter(({ marks }) => marks.length > 0)
    .map(({ pair, side, marks }) => `- pair ${pair}, ${names[side]}: ${marks.join("; ")}\n`);
  return lines.length > 0
    ? `Marked, and in the table all the same:\n\n${lines.join("")}`
    : "No run is marked.\n";
}
