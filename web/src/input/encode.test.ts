import { describe, expect, it } from "vitest";
import {
  encodeButton,
  encodeCharacter,
  encodeGamepad,
  encodeKey,
  encodePointer,
  encodeReleaseAll,
  encodeTouch,
  TouchPhase,
} from "./encode";

/** 1.5 as f64, little-endian. */
const ONE_AND_A_HALF = "00 00 00 00 00 00 f8 3f";

function hex(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

describe("pointer", () => {
  it("has a position only while it is not locked", () => {
    const free = {
      position: { x: 0x1234, y: 65535 },
      sequence: 0xfffffffe,
      movement: { x: -16, y: 32 },
      wheel: { x: 0, y: -120 },
    };
    const sums = "fe ff ff ff f0 ff ff ff 20 00 00 00 00 00 00 00 88 ff ff ff";
    expect(hex(encodePointer(free, 1.5))).toBe(`01 01 34 12 ff ff ${sums} ${ONE_AND_A_HALF}`);
    const locked = { ...free, position: undefined };
    expect(hex(encodePointer(locked, 1.5))).toBe(`01 00 00 00 00 00 ${sums} ${ONE_AND_A_HALF}`);
  });

  it("wraps its sums as the host's i32 does", () => {
    const message = {
      position: undefined,
      sequence: 1,
      movement: { x: 2 ** 31, y: -(2 ** 31) - 1 },
      wheel: { x: 0, y: 0 },
    };
    const view = new DataView(encodePointer(message, 0));
    expect(view.getInt32(10, true)).toBe(-(2 ** 31));
    expect(view.getInt32(14, true)).toBe(2 ** 31 - 1);
  });
});

describe("gamepad", () => {
  it("tells the whole state", () => {
    const message = {
      index: 2,
      unplugged: false,
      sequence: 258,
      buttons: 0x10001,
      axes: [-1, 1, 0.5, 0],
      triggers: [0, 1],
    };
    expect(hex(encodeGamepad(message, 1.5))).toBe(
      `02 02 02 01 00 00 01 00 01 00 01 80 ff 7f 00 40 00 00 00 ff ${ONE_AND_A_HALF}`,
    );
  });

  it("marks an unplugged one and holds axes within their range", () => {
    const message = {
      index: 15,
      unplugged: true,
      sequence: 1,
      buttons: 0xffffffff,
      axes: [-3, 3],
      triggers: [-1, 9],
    };
    const view = new DataView(encodeGamepad(message, 0));
    expect(view.getUint8(1)).toBe(0x8f);
    expect(view.getUint32(6, true)).toBe(0xffffffff);
    expect([10, 12, 14, 16].map((at) => view.getInt16(at, true))).toEqual([-32767, 32767, 0, 0]);
    expect([view.getUint8(18), view.getUint8(19)]).toEqual([0, 255]);
  });
});

describe("what must arrive", () => {
  it("keys", () => {
    expect(hex(encodeKey(353, true, 1.5))).toBe(`10 01 61 01 ${ONE_AND_A_HALF}`);
    expect(hex(encodeKey(30, false, 1.5))).toBe(`10 00 1e 00 ${ONE_AND_A_HALF}`);
  });

  it("buttons", () => {
    expect(hex(encodeButton(2, true, 1.5))).toBe(`11 01 02 00 ${ONE_AND_A_HALF}`);
    expect(hex(encodeButton(0, false, 1.5))).toBe(`11 00 00 00 ${ONE_AND_A_HALF}`);
  });

  it("release all", () => {
    expect(hex(encodeReleaseAll(1.5))).toBe(`12 00 00 00 ${ONE_AND_A_HALF}`);
  });

  it("characters", () => {
    expect(hex(encodeCharacter(0x1f600, 1.5))).toBe(`14 00 00 00 00 f6 01 00 ${ONE_AND_A_HALF}`);
  });

  it("touches", () => {
    const place = { x: 1, y: 0xff00 };
    expect(hex(encodeTouch(TouchPhase.cancelled, 9, place, 1.5))).toBe(
      `13 03 09 00 01 00 00 ff ${ONE_AND_A_HALF}`,
    );
  });
});
