import { expect, it } from "vitest";
import { SoundMeter } from "./meter";

function report(...entries: object[]): RTCStatsReport {
  return new Map(entries.map((entry, index) => [String(index), entry])) as never;
}

const INBOUND = {
  type: "inbound-rtp",
  kind: "audio",
  packetsLost: 3,
  totalSamplesReceived: 48_000,
  concealedSamples: 480,
  concealmentEvents: 2,
  jitterBufferDelay: 960,
  jitterBufferEmittedCount: 48_000,
};

it("tells of the sound what the browser counts", () => {
  const meter = new SoundMeter();
  const playout = { type: "media-playout", totalPlayoutDelay: 480, totalSamplesCount: 48_000 };
  expect(meter.measure(report({ type: "inbound-rtp", kind: "video" }))).toBeNull();
  expect(meter.measure(report(INBOUND, playout))).toEqual({
    packets_lost: 3,
    samples: 48_000,
    concealed: 480,
    gaps: 2,
    stretched: null,
    jitter_buffer: 20,
    playout: 10,
    skew: null,
  });
  // Only what is new counts for the means.
  const later = { ...INBOUND, jitterBufferDelay: 2_400, jitterBufferEmittedCount: 96_000 };
  expect(meter.measure(report(later))).toMatchObject({ jitter_buffer: 30, playout: null });
});

it("tells of the sound what the page counts, as long as it plays it", () => {
  const meter = new SoundMeter();
  const counts = {
    played: 96_000,
    concealed: 960,
    stretched: 240,
    gaps: 4,
    waited: 48 * 25 * 100,
    frames: 100,
  };
  meter.played({ counts, position: 0, time: 0, at: 0, playout: 5.04 });
  expect(meter.measure(report(INBOUND))).toEqual({
    packets_lost: 3,
    samples: 96_000,
    concealed: 960,
    gaps: 4,
    stretched: 240,
    jitter_buffer: 25,
    playout: 5,
    skew: null,
  });
  // It has been left to the browser.
  meter.heard([]);
  expect(meter.measure(report(INBOUND))).toMatchObject({ samples: 48_000, gaps: 2 });
});

it("measures the skew by the host's clocks", () => {
  const meter = new SoundMeter();
  meter.heard([{ timestamp: 1, rtpTimestamp: 1 }]);
  meter.clocks({ rtp: 900, time: 10 }, null);
  meter.clocks(undefined, { rtp: 480, time: 10 });
  meter.picture(900, 100);
  meter.heard([]);
  expect(meter.measure(report(INBOUND))?.skew).toBeNull();
  // Captured 10 ms after that picture, heard 35 ms after it was seen.
  meter.heard([{ timestamp: performance.timeOrigin + 135, rtpTimestamp: 960 }]);
  expect(meter.measure(report(INBOUND))?.skew).toBe(25);
});
