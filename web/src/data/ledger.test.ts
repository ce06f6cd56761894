import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { dayOf } from "./budget";
import { Ledger, parseDays, received, writeDays } from "./ledger";

const NOON = new Date(2026, 10, 27, 12);
const TODAY = dayOf(NOON);

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});

afterEach(() => vi.unstubAllGlobals());

it("adds up what sessions receive, each from its own beginning", () => {
  const ledger = new Ledger();
  ledger.begin();
  ledger.count(1_000, 1, NOON);
  ledger.count(3_000, 1, NOON);
  ledger.begin();
  ledger.count(500, 1, NOON);
  // A browser that counts less than before does not give anything back.
  ledger.count(400, 1, NOON);
  expect([...new Ledger().days()]).toEqual([[TODAY, { bytes: 3_500, seconds: 4 }]]);
  ledger.count(900, 1, new Date(2026, 10, 28, 0, 1));
  expect(new Ledger().days().get(TODAY + 1)).toEqual({ bytes: 500, seconds: 1 });
});

it("passes over what makes no sense", () => {
  const stored = `{"${TODAY}":[5,6],"x":[1,2],"1.5":[1,2],"7":[-1,2],"8":[1],"9":null,"10":["1",2]}`;
  expect([...parseDays(stored)]).toEqual([[TODAY, { bytes: 5, seconds: 6 }]]);
  for (const bad of [null, "", "[]", "7", "null", "{"]) {
    expect(parseDays(bad).size, String(bad)).toBe(0);
  }
});

it("forgets what is older than two months, and what is to come", () => {
  const used = { bytes: 1, seconds: 1 };
  const days = new Map([-62, -61, 0, 1].map((back) => [TODAY + back, used]));
  expect([...parseDays(writeDays(days, TODAY)).keys()]).toEqual([TODAY - 61, TODAY]);
});

it("works where storage is forbidden", () => {
  vi.stubGlobal("localStorage", {
    getItem: () => {
      throw new Error("forbidden");
    },
    setItem: () => {
      throw new Error("forbidden");
    },
  });
  const ledger = new Ledger();
  ledger.count(1, 1, NOON);
  expect(ledger.days().size).toBe(0);
});

it("counts each packet's headers, and each byte once", () => {
  const entries = [
    { type: "transport", bytesReceived: 10_000 },
    { type: "candidate-pair", bytesReceived: 10_000, packetsReceived: 10 },
    { type: "candidate-pair", bytesReceived: 100 },
    { type: "inbound-rtp", bytesReceived: 9_000 },
  ];
  const report = new Map(entries.map((entry, index) => [String(index), entry]));
  expect(received(report as unknown as RTCStatsReport)).toBe(10_380);
});
