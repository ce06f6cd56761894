import { describe, expect, it } from "vitest";
import { PointerState, wheelUnits } from "./pointer-state";

function read(buffer: ArrayBuffer) {
  const view = new DataView(buffer);
  return {
    free: view.getUint8(1) === 1,
    position: [view.getUint16(2, true), view.getUint16(4, true)],
    sequence: view.getUint32(6, true),
    movement: [view.getInt32(10, true), view.getInt32(14, true)],
    wheel: [view.getInt32(18, true), view.getInt32(22, true)],
  };
}

describe("PointerState", () => {
  it("sums movement without losing fractions, and numbers every message", () => {
    const state = new PointerState();
    for (let step = 0; step < 100; step++) {
      state.moveBy({ x: 0.03, y: -1 });
    }
    expect(read(state.encode(0))).toMatchObject({
      free: false,
      sequence: 1,
      movement: [48, -1600],
    });
    expect(read(state.encode(0))).toMatchObject({ sequence: 2, movement: [48, -1600] });
  });

  it("tells a position until the pointer is locked, and keeps the sums", () => {
    const state = new PointerState();
    state.turn({ x: 0, y: 120 });
    state.moveTo({ x: 7, y: 65535 });
    expect(read(state.encode(0))).toMatchObject({ free: true, position: [7, 65535] });
    state.lock();
    expect(read(state.encode(0))).toMatchObject({ free: false, position: [0, 0], wheel: [0, 120] });
  });
});

describe("wheelUnits", () => {
  it.each([
    ["Chromium on Windows", { delta: 100, mode: 0, notches120: -120 }, 120],
    ["Chromium on Linux", { delta: -120, mode: 0, notches120: 120 }, -120],
    ["Firefox, in lines", { delta: 3, mode: 1, notches120: undefined }, 120],
    ["a page", { delta: -1, mode: 2, notches120: undefined }, -120],
    ["a touchpad", { delta: 40, mode: 0, notches120: -120 }, 48],
    ["another axis", { delta: 0, mode: 0, notches120: 0 }, 0],
  ])("%s", (_name, turn, units) => {
    expect(wheelUnits(turn)).toBe(units);
  });
});
