import { describe, expect, it } from "vitest";
import type { Stages, Statistics } from "../session/messages";
import { latency, latencyTerms, rows } from "./rows";

const STAGES: Stages = {
  capture: 0.3,
  encode: 6.8,
  pace: 3.1,
  network: 0.4,
  decode: 1.2,
  present: 6.0,
  total: 17.8,
};

/** What a reader of the line would add up, in tenths. */
function shownSum(stages: Partial<Stages>): { parts: number; total: number } {
  const { parts, total } = latency(stages);
  const sum = parts.reduce((before, { value }) => before + Math.round((value ?? 0) * 10), 0);
  return { parts: sum, total: Math.round((total ?? Number.NaN) * 10) };
}

describe("latency", () => {
  it("shows the host's parts as they are", () => {
    expect(latencyTerms(latency(STAGES))).toEqual({
      terms: ["capture 0.3", "encode 6.8", "pace 3.1", "network 0.4", "decode 1.2", "present 6.0"],
      sum: "17.8 ms",
    });
  });

  it("adds up whatever the parts' decimals are", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const part = (index: number) => ((seed * 7919 * (index + 1)) % 9973) / 977;
      const values = [0, 1, 2, 3, 4, 5].map(part);
      const [capture = 0, encode = 0, pace = 0, network = 0, decode = 0, present = 0] = values;
      const total = values.reduce((sum, value) => sum + value, 0);
      const stages = { capture, encode, pace, network, decode, present, total };
      const { parts, total: shown } = shownSum(stages);
      expect(parts, `seed ${seed}`).toBe(shown);
      expect(latency(stages).parts, `seed ${seed}`).toHaveLength(6);
      for (const [index, { value }] of latency(stages).parts.entries()) {
        expect(Math.abs((value ?? 0) - (values[index] ?? 0)), `seed ${seed}`).toBeLessThan(0.1001);
      }
    }
  });

  it("names what the known parts do not explain", () => {
    const { parts, total } = latency({ ...STAGES, present: null });
    expect(parts.at(-1)).toEqual({ name: "other", value: 6 });
    expect(parts.find(({ name }) => name === "present")?.value).toBeNull();
    expect(total).toBe(17.8);
    expect(shownSum({ ...STAGES, present: null })).toEqual({ parts: 178, total: 178 });
  });

  it("adds up itself when the host gives no total, but only complete parts", () => {
    expect(latency({ ...STAGES, total: null }).total).toBe(17.8);
    expect(latency({ ...STAGES, total: null, decode: null }).total).toBeNull();
    expect(latency(undefined).total).toBeNull();
  });
});

describe("rows", () => {
  it("say what the host and the browser tell", () => {
    const content = rows({
      hello: undefined,
      measured: undefined,
      shown: 727,
      statistics: {
        type: "statistics",
        time: 12.25,
        target: 21e6,
        bitrate: 19.5e6,
        utilisation: 0.87,
        state: "increase",
        cause: "additive increase",
        loss: 0.012,
        delay: { p50: 12.1, p95: 16, p99: 21.3 },
      },
    });
    const value = (label: string) => content.find((row) => row.label === label)?.value;
    expect(value("Bitrate")).toBe("19.5 of 21.0 Mbit/s target");
    expect(value("Data")).toBe("8.8 GB an hour");
    // A host that tells no more of its decision.
    expect(value("Decision")).toBe("increase · additive increase");
    expect(value("Evidence")).toBe("busy 87 %");
    expect(value("Sending")).toBeUndefined();
    expect(value("Spared")).toBeUndefined();
    expect(value("Frame delay")).toBe("p50 12.1 · p95 16.0 · p99 21.3 ms");
    expect(value("Network")).toContain("loss 1.2 %");
    expect(value("Page frames")).toContain("727 shown");
  });

  it("say what is spared, and why, while something is", () => {
    const relief = "other programs take the host's processor: one picture of 2";
    const statistics = { type: "statistics", time: 1, relief } as const;
    const content = rows({ hello: undefined, measured: undefined, shown: 1, statistics });
    expect(content.find(({ label }) => label === "Spared")?.value).toBe(relief);
  });

  it("count the sound into the data of an hour", () => {
    const value = (statistics: Statistics | undefined) =>
      rows({ hello: undefined, measured: undefined, shown: 1, statistics }).find(
        ({ label }) => label === "Data",
      )?.value;
    const picture = { type: "statistics", time: 1, bitrate: 1e6 } as const;
    const sound = { clock: { rtp: 0, time: 0 }, bitrate: 1e6, redundancy: 0 };
    expect(value(picture)).toBe("0.5 GB an hour");
    expect(value({ ...picture, sound })).toBe("0.9 GB an hour");
    // A sound alone says nothing about the picture.
    expect(value({ type: "statistics", time: 1, sound })).toBe("– GB an hour");
  });

  it("say how the sound is heard, where there is any", () => {
    const sound = {
      packets_lost: 7,
      samples: 96_000,
      concealed: 480,
      gaps: 1,
      stretched: 0,
      jitter_buffer: 24.04,
      playout: 10,
      skew: 12.3,
    };
    const measured = { client: { sound } } as never;
    const statistics = { type: "statistics", time: 1, stages: STAGES } as const;
    const content = rows({ hello: undefined, measured, shown: 1, statistics });
    const value = content.find(({ label }) => label === "Sound")?.value;
    expect(value).toBe("delay 30.1 ms · skew 12.3 ms · buffer 24.0 ms · 7 lost · 0.50 % made up");
    const without = rows({ hello: undefined, measured: undefined, shown: 1, statistics });
    expect(without.some(({ label }) => label === "Sound")).toBe(false);
  });

  it("show a dash, never a number, for what is not known", () => {
    const content = rows({
      hello: undefined,
      statistics: undefined,
      measured: undefined,
      shown: 0,
    });
    for (const { label, value } of content.filter((row) => row.label !== "Page frames")) {
      expect(value.replace(/p50|p95|p99|100 ms/g, ""), label).not.toMatch(/\d|NaN|undefined|null/);
      expect(value, label).toContain("–");
    }
  });
});
