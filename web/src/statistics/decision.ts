// What the statistics say of the controller's decision. What a controller does not
// tell has no place here: a row of dashes says nothing.

import type { Decided, Statistics } from "../session/messages";
import { decimal, join, kilobytes, megabits, percent, type Row, UNKNOWN } from "./text";

export function decisionRows(statistics: Statistics | undefined): Row[] {
  const decision = statistics?.decision;
  return [
    {
      label: "Decision",
      value: decision?.reason ?? cause(statistics),
      title: "Why the target, or the limit of the newest frame, is what it is",
    },
    ...row(
      "Evidence",
      evidence(statistics),
      "What the controller sees: the share of the link in use, its newest sample and smoothed; " +
        "the rate at which the link serves this stream; the newest packet's wait in queues; own " +
        "data in queues",
    ),
    ...row(
      "Sending",
      sending(decision),
      "How a frame's packets leave, the limit of the newest frame alone, and how much may be " +
        "on its way",
    ),
  ];
}

/** The busy share that the controller goes by: smoothed where it smooths. */
export function busyShare(statistics: Statistics): number | null {
  return statistics.decision?.smoothed_utilisation ?? statistics.utilisation ?? null;
}

/** Of a host that has no words for it. */
function cause(statistics: Statistics | undefined): string {
  const { state, cause } = statistics ?? {};
  return cause ? join(...(state ? [state, cause] : [cause])) : UNKNOWN;
}

function evidence(statistics: Statistics | undefined): string[] {
  const newest = statistics?.utilisation;
  const decision = statistics?.decision;
  const smoothed = decision?.smoothed_utilisation;
  return [
    ...known(newest, (share) => `busy ${percent(share, 0)}`),
    ...known(smoothed, (share) => `smoothed ${percent(share, 0)}`),
    ...known(decision?.service_rate, (rate) => `serves ${megabits(rate)} Mbit/s`),
    ...known(decision?.queue_delay, (delay) => `queue ${decimal(delay)} ms`),
    ...known(decision?.backlog, (bytes) => `backlog ${kilobytes(bytes)} kB`),
  ];
}

function sending(decision: Decided | undefined): string[] {
  return [
    ...pace(decision),
    ...known(decision?.frame_limit, (bytes) => `frame at most ${kilobytes(bytes)} kB`),
    ...known(decision?.window, (bytes) => `window ${kilobytes(bytes)} kB`),
  ];
}

function pace(decision: Decided | undefined): string[] {
  switch (decision?.pacing) {
    case "burst":
      return ["all at once"];
    case "spread":
      return [`spread over ${decimal(decision.pace_span)} ms`];
    case "bucket":
      return [
        ...known(decision.pace_rate, (rate) => `paced at ${megabits(rate)} Mbit/s`),
        ...known(decision.pace_burst || null, (bytes) => `${kilobytes(bytes)} kB at once`),
      ];
    default:
      return [];
  }
}

function known(value: number | null | undefined, text: (value: number) => string): string[] {
  return value === null || value === undefined ? [] : [text(value)];
}

function row(label: string, parts: string[], title: string): Row[] {
  return parts.length === 0 ? [] : [{ label, value: join(...parts), title }];
}
