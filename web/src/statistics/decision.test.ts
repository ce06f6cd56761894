import { describe, expect, it } from "vitest";
import type { Decided, Statistics } from "../session/messages";
import { busyShare, decisionRows } from "./decision";

const NOTHING: Decided = {
  reason: null,
  smoothed_utilisation: null,
  service_rate: null,
  backlog: null,
  queue_delay: null,
  frame_limit: null,
  window: null,
  pacing: null,
  pace_span: null,
  pace_rate: null,
  pace_burst: null,
};

function statistics(decision: Partial<Decided>, utilisation: number | null = null): Statistics {
  return { type: "statistics", time: 1, utilisation, decision: { ...NOTHING, ...decision } };
}

/** The rows as `label: value`. */
function texts(statistics: Statistics | undefined): string[] {
  return decisionRows(statistics).map(({ label, value }) => `${label}: ${value}`);
}

describe("a decision", () => {
  it("is told with everything that its controller saw", () => {
    const all = statistics(
      {
        reason: "the link's queue is above its target: less",
        smoothed_utilisation: 0.85,
        service_rate: 24.5e6,
        queue_delay: 1.23,
        backlog: 3100,
        frame_limit: 40_000,
        window: 62_000,
        pacing: "spread",
        pace_span: 11.94,
      },
      1.104,
    );
    expect(texts(all)).toEqual([
      "Decision: the link's queue is above its target: less",
      "Evidence: busy 110 % · smoothed 85 % · serves 24.5 Mbit/s · queue 1.2 ms · backlog 3.1 kB",
      "Sending: spread over 11.9 ms · frame at most 40.0 kB · window 62.0 kB",
    ]);
  });

  it("has a row and a figure only for what its controller tells", () => {
    expect(texts(statistics({ reason: "so", queue_delay: 0 }))).toEqual([
      "Decision: so",
      "Evidence: queue 0.0 ms",
    ]);
    expect(texts(statistics({ reason: "so", frame_limit: 0 }))).toEqual([
      "Decision: so",
      "Sending: frame at most 0.0 kB",
    ]);
    expect(texts(undefined)).toEqual(["Decision: –"]);
  });

  it.each<[Partial<Decided>, string]>([
    [{ pacing: "burst" }, "all at once"],
    [{ pacing: "bucket", pace_rate: 25e6, pace_burst: 0 }, "paced at 25.0 Mbit/s"],
    [
      { pacing: "bucket", pace_rate: 25e6, pace_burst: 2400 },
      "paced at 25.0 Mbit/s · 2.4 kB at once",
    ],
    [{ pacing: "bucket", pace_rate: null, pace_burst: 2400 }, "2.4 kB at once"],
  ])("says of %o how packets leave", (decision, text) => {
    expect(texts(statistics({ reason: "so", ...decision }))).toEqual([
      "Decision: so",
      `Sending: ${text}`,
    ]);
  });

  it("leaves out a way to send that this page does not know", () => {
    expect(texts(statistics({ reason: "so", pacing: "later" }))).toEqual(["Decision: so"]);
  });
});

it("the graph has the busy share that the controller goes by", () => {
  expect(busyShare(statistics({ smoothed_utilisation: 0.8 }, 0.4))).toBe(0.8);
  expect(busyShare(statistics({}, 0.4))).toBe(0.4);
  expect(busyShare(statistics({}))).toBeNull();
  expect(busyShare({ type: "statistics", time: 1, utilisation: 0.3 })).toBe(0.3);
});
