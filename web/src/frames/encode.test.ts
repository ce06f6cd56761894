import { expect, it } from "vitest";
import { clockQuestion, encodeClockAnswer, encodeDecoded, encodeShown } from "./encode";

const FRAME = { presentationTime: 3, expectedDisplayTime: 4, presentedFrames: 5 };

it("tells of a shown frame, all times in milliseconds", () => {
  const known = { ...FRAME, rtpTimestamp: 0xfedcba98, receiveTime: 1, processingDuration: 0.002 };
  const view = new DataView(encodeShown(known));
  expect(view.byteLength).toBe(44);
  expect(view.getUint32(0, true)).toBe(32);
  expect(view.getUint32(4, true)).toBe(0xfedcba98);
  expect([8, 16, 24, 32].map((at) => view.getFloat64(at, true))).toEqual([1, 2, 3, 4]);
  expect(view.getUint32(40, true)).toBe(5);
});

it("tells unknown times as NaN", () => {
  const view = new DataView(encodeShown({ ...FRAME, rtpTimestamp: 1 }));
  expect([view.getFloat64(8, true), view.getFloat64(16, true)]).toEqual([Number.NaN, Number.NaN]);
});

it("tells of a decoded frame", () => {
  const view = new DataView(encodeDecoded(7, 2.5));
  expect([view.byteLength, view.getUint32(0, true)]).toEqual([16, 33]);
  expect([view.getUint32(4, true), view.getFloat64(8, true)]).toEqual([7, 2.5]);
});

it("answers a clock question, and nothing else", () => {
  const question = new DataView(new ArrayBuffer(16));
  question.setUint8(0, 48);
  question.setFloat64(8, 12.5, true);
  expect(clockQuestion(question.buffer)).toBe(12.5);
  const view = new DataView(encodeClockAnswer(12.5, 99));
  expect([view.byteLength, view.getUint32(0, true)]).toEqual([24, 34]);
  expect([view.getFloat64(8, true), view.getFloat64(16, true)]).toEqual([12.5, 99]);

  expect(clockQuestion(question.buffer.slice(0, 15))).toBeUndefined();
  question.setUint8(0, 49);
  expect(clockQuestion(question.buffer)).toBeUndefined();
  expect(clockQuestion(new ArrayBuffer(0))).toBeUndefined();
});
