import { expect, it } from "vitest";
import { parseSettings } from "../settings";
import { ClientMeter } from "../statistics/client";
import { parseHostMessage } from "./messages";

it("reads what it knows of the host's messages and ignores the rest", () => {
  expect(parseHostMessage('{"type":"feedback","use":"twcc-01"}')).toMatchObject({ use: "twcc-01" });
  expect(parseHostMessage('{"type":"statistics","time":1,"new":2}')).toMatchObject({ time: 1 });
  const candidates = { type: "candidates", candidates: ["candidate:1"] };
  expect(parseHostMessage(JSON.stringify(candidates))).toEqual(candidates);
  for (const text of [
    '{"type":"feedback","use":"else"}',
    '{"type":"statistics"}',
    '{"type":"clipboard","text":7}',
    '{"type":"candidates","candidates":["candidate:1",7]}',
    '{"type":"later"}',
    "null",
    "[]",
    "{",
  ]) {
    expect(parseHostMessage(text), text).toBeUndefined();
  }
  expect(parseHostMessage(new ArrayBuffer(1))).toBeUndefined();
});

it("tells the host of this browser in milliseconds, and null for what it does not say", () => {
  const report = (entry: object) => new Map([["v", entry]]) as unknown as RTCStatsReport;
  const video = { type: "inbound-rtp", kind: "video", framesReceived: 60 };
  const meter = new ClientMeter();
  meter.measure(report({ ...video, jitterBufferDelay: 1, jitterBufferEmittedCount: 100 }), false);
  const { client } = meter.measure(
    report({
      ...video,
      jitterBufferDelay: 1.03,
      jitterBufferEmittedCount: 160,
      totalFreezesDuration: 0.25,
    }),
    true,
  );
  expect(client).toEqual({
    type: "client",
    received: 60,
    decoded: null,
    dropped: null,
    freezes: null,
    freeze_duration: 250,
    packets_lost: null,
    decoder: null,
    jitter_buffer: 0.5,
    hidden: true,
    sound: null,
  });
});

it("takes the result of a test of the line only with its words", () => {
  const line = { type: "line", words: ["The line carries 20 Mbit/s."], grade: "B" };
  expect(parseHostMessage(JSON.stringify(line))).toEqual(line);
  for (const words of ["none", [7], undefined]) {
    expect(parseHostMessage(JSON.stringify({ ...line, words }))).toBeUndefined();
  }
});

it("keeps what a person has chosen and no more", () => {
  expect(parseSettings(null)).toMatchObject({ rawMovement: true, statistics: false });
  expect(parseSettings('{"rawMovement":false,"statistics":"yes","other":1}')).toEqual({
    ...parseSettings(null),
    rawMovement: false,
  });
  const chosen = '{"muted":true,"volume":30}';
  expect(parseSettings(chosen)).toMatchObject({ muted: true, volume: 30 });
  for (const volume of ["-1", "101", '"loud"', "null"]) {
    expect(parseSettings(`{"volume":${volume}}`).volume, volume).toBe(100);
  }
  expect(parseSettings("nonsense")).toEqual(parseSettings("null"));
});
