// What the simulator answers: crates/embed/playground describes it.

/** Figures in milliseconds. */
export interface Delays {
  readonly mean: number;
  readonly p50?: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface FlowFigures {
  readonly name: string;
  readonly kind: "video" | "tcp" | "cbr";
  readonly controller: string | null;
  readonly frame_delay_ms: Delays | null;
  readonly stall_50ms: number | null;
  readonly stall_100ms: number | null;
  readonly throughput_mbps: number;
  readonly loss_rate: number | null;
}

export interface Figures {
  readonly flows: readonly FlowFigures[];
  readonly link: {
    readonly utilization: number | null;
    readonly queue_delay_ms: Delays | null;
  };
  readonly jain: number | null;
}

/** A value for each interval; null where there was nothing to measure. */
export type Values = readonly (number | null)[];

export interface Summary {
  readonly mean: Values;
  readonly worst: Values;
}

export interface FlowSeries {
  readonly name: string;
  readonly kind: FlowFigures["kind"];
  readonly controller: string | null;
  readonly sent_mbps: Values;
  readonly arrived_mbps: Values;
  readonly target_mbps: Values;
  readonly delay_ms: Summary;
  readonly delays_ms: Values;
}

export interface Series {
  readonly bin_ms: number;
  readonly duration_ms: number;
  readonly links: readonly { readonly rate_mbps: Values; readonly wait_ms: Summary }[];
  readonly flows: readonly FlowSeries[];
}

export interface Run {
  readonly variant: string | null;
  readonly figures: Figures;
  readonly series: Series;
}

export interface Answer {
  readonly seed: number;
  readonly virtual_s: number;
  readonly notes: readonly string[];
  readonly runs: readonly Run[];
}

/** An answer to a text that is no scenario. */
export interface Refusal {
  readonly error: string;
}
