// The figures in a table, and how fast they came.

import type { Answer } from "./answer";
import type { Drawn } from "./plots";

const HEADS: readonly (readonly [string, string])[] = [
  ["", ""],
  ["link used", "Share of what the link could have passed that it did"],
  ["Mbit/s", "Rate of what arrived, headers included"],
  ["p50", "Median frame delay in ms"],
  ["p95", "95th percentile of frame delay in ms"],
  ["p99", "99th percentile of frame delay in ms"],
  ["> 50 ms", "Share of frames that took longer, or never came"],
  ["> 100 ms", "Share of frames that took longer, or never came"],
  ["lost", "Share of packets that were dropped or lost"],
  ["queue p95", "95th percentile of the wait in the link's queue in ms"],
];

const NONE = "–";

function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? NONE : `${(share * 100).toFixed(1)} %`;
}

function digits(value: number | undefined, count: number): string {
  return value === undefined ? NONE : value.toFixed(count);
}

/** A row for each flow. */
export function fill(table: HTMLTableElement, drawn: readonly Drawn[]): void {
  const head = document.createElement("tr");
  for (const [words, title] of HEADS) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = words;
    cell.title = title;
    head.append(cell);
  }
  table.replaceChildren(head, ...drawn.map(row));
}

function row({ run, number, label, color }: Drawn): HTMLTableRowElement {
  const { link, flows } = run.figures;
  const flow = flows[number];
  const delay = flow?.frame_delay_ms ?? undefined;
  const made = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.append(swatch(color), label);
  made.append(name);
  for (const words of [
    percent(link.utilization),
    digits(flow?.throughput_mbps, 2),
    digits(delay?.p50, 1),
    digits(delay?.p95, 1),
    digits(delay?.p99, 1),
    percent(flow?.stall_50ms),
    percent(flow?.stall_100ms),
    percent(flow?.loss_rate),
    digits(link.queue_delay_ms?.p95, 1),
  ]) {
    made.insertCell().textContent = words;
  }
  return made;
}

/** The colour of a flow. */
export function swatch(color: string): HTMLElement {
  const made = document.createElement("i");
  made.style.setProperty("--color", `var(${color})`);
  return made;
}

/** How much was simulated, and how long that took. */
export function speed({ virtual_s, runs }: Answer, elapsed: number): string {
  const times = Math.round((virtual_s * 1e3) / Math.max(elapsed, 0.1));
  const count = runs.length === 1 ? "One run" : `${runs.length} runs`;
  return `${count}, ${virtual_s} s in all, simulated in ${Math.round(elapsed)} ms: ${times} times real time.`;
}
