// What an emulated link can carry over time.

/** From this second on the link has this rate in Mbit/s. */
export interface Row {
  readonly at: number;
  readonly mbps: number;
}

export class Rates {
  readonly rows: readonly Row[];
  /** After so many seconds they begin again; infinity for never. */
  readonly period: number;

  constructor(rows: readonly Row[], period = Number.POSITIVE_INFINITY) {
    const isSorted = rows.every(({ at }, index) => at > (rows[index - 1]?.at ?? -1));
    if (rows[0]?.at !== 0 || !isSorted || (rows.at(-1)?.at ?? 0) >= period) {
      throw new Error("rates begin at zero, go forwards, and end before they repeat");
    }
    this.rows = rows;
    this.period = period;
  }

  /** Those of a trace in rows (docs/use/traces.md) from `from` on; its delays and losses are left out. */
  static ofTrace(text: string, from = 0): Rates {
    const lines = text.split("\n").filter((line) => line.trim() && !line.startsWith("#"));
    const rows = lines.map((line) => {
      const [at, mbps] = line.trim().split(/\s+/).map(Number);
      return { at: at ?? Number.NaN, mbps };
    });
    const steps = rows.slice(1).map(({ at }, index) => at - (rows[index]?.at ?? 0));
    const step = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 1;
    const last = rows.at(-1);
    // A last line of a time alone is the end.
    const end = (last?.at ?? 0) + (last?.mbps === undefined ? 0 : step);
    const rated = rows.flatMap(({ at, mbps }) => (mbps === undefined ? [] : [{ at, mbps }]));
    if (from >= end) {
      throw new Error(`the trace lasts ${end} s, and is to be used from ${from} s on`);
    }
    const first = rated.findLast(({ at }) => at <= from);
    const rest = rated
      .filter(({ at }) => at > from)
      .map(({ at, mbps }) => ({ at: at - from, mbps }));
    return new Rates([{ at: 0, mbps: first?.mbps ?? 0 }, ...rest], end - from);
  }

  /** Mbit that pass between two times. */
  carried(from: number, to: number): number {
    let sum = 0;
    const first = Number.isFinite(this.period) ? Math.floor(from / this.period) : 0;
    for (let turn = first; turn === first || turn * this.period < to; turn += 1) {
      const begin = turn === 0 ? 0 : turn * this.period;
      for (const [index, { at, mbps }] of this.rows.entries()) {
        const next = this.rows[index + 1]?.at ?? this.period;
        const span = Math.min(to, begin + next) - Math.max(from, begin + at);
        sum += mbps * Math.max(0, span);
      }
    }
    return sum;
  }

  /** As a scenario has them: in `[link]`, where `file` will hold `asTrace()` if they repeat. */
  asKey(file: string): string {
    if (Number.isFinite(this.period)) {
      return `trace = "${file}"`;
    }
    const steps = this.rows.map(({ at, mbps }) => `{ at = "${at}s", rate = "${mbps}Mbit/s" }`);
    return `steps = [${steps.join(", ")}]`;
  }

  /** As a trace has them. */
  asTrace(): string {
    const lines = this.rows.map(({ at, mbps }) => `${at.toFixed(6)} ${mbps}\n`);
    return `${lines.join("")}${this.period.toFixed(6)}\n`;
  }
}
