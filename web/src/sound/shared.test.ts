import { describe, expect, it } from "vitest";
import { type Arrived, KEPT, put, soundMemory, take, tell, told } from "./shared";

function nothing(): Arrived {
  return { at: 0, length: 0, isPrompt: false, repeats: 0, came: 0 };
}

describe("Shared sound", () => {
  it("gives the frames in order, with their samples", () => {
    const memory = soundMemory(2);
    const at = 3 * KEPT - 1;
    const frames = [0, 1, 2].map((number) => ({
      at: at + 2 * number,
      isPrompt: number === 1,
      repeats: number,
      came: 1_795_409_867_541 + number,
    }));
    for (const [number, frame] of frames.entries()) {
      put(memory, frame, [Float32Array.of(number, 0.5), Float32Array.of(-number, 0.25)]);
    }
    for (const frame of frames) {
      const arrived = nothing();
      expect(take(memory, arrived)).toBe(true);
      expect(arrived).toEqual({ ...frame, length: 2 });
    }
    expect(take(memory, nothing())).toBe(false);
    const [left, right] = memory.rings;
    // The first begins at the last place of the ring.
    expect([left?.[KEPT - 1], left?.[0], left?.[1], left?.[3]]).toEqual([0, 0.5, 1, 2]);
    expect([right?.[KEPT - 1], right?.[0], right?.[1], right?.[3]]).toEqual([-0, 0.25, -1, -2]);
  });

  it("plays one channel on both sides", () => {
    const memory = soundMemory(2);
    put(memory, { at: 0, isPrompt: true, repeats: 0, came: 0 }, [Float32Array.of(0.5)]);
    expect(memory.rings.map(([first]) => first)).toEqual([0.5, 0.5]);
  });

  it("leaves out what finds no place, and goes on behind it", () => {
    const memory = soundMemory(1);
    const putFrame = (at: number) =>
      put(memory, { at, isPrompt: true, repeats: 0, came: 0 }, [Float32Array.of(at)]);
    const taken: number[] = [];
    const takeAll = () => {
      const arrived = nothing();
      while (take(memory, arrived)) {
        taken.push(arrived.at);
      }
    };
    for (let at = 0; at < 300; at += 1) {
      putFrame(at);
    }
    takeAll();
    expect(taken).toEqual(Array.from({ length: 256 }, (_, at) => at));
    expect(memory.rings[0]?.[256]).toBe(0);
    putFrame(300);
    takeAll();
    expect(taken.at(-1)).toBe(300);
  });

  it("goes on where its counters begin anew", () => {
    const memory = soundMemory(1);
    memory.counters.fill(2 ** 31 - 1);
    for (let at = 0; at < 300; at += 1) {
      put(memory, { at, isPrompt: true, repeats: 0, came: 0 }, [Float32Array.of(0)]);
      const arrived = nothing();
      expect(take(memory, arrived)).toBe(true);
      expect(arrived.at).toBe(at);
    }
  });

  it("tells how far it is, but not what is being written", () => {
    const memory = soundMemory(1);
    expect(told(memory)).toBeUndefined();
    const counts = { played: 1, concealed: 2, stretched: 3, gaps: 4, waited: 5.5, frames: 6 };
    tell(memory, 2 ** 33 + 0.25, 7.125, counts);
    expect(told(memory)).toEqual({ position: 2 ** 33 + 0.25, time: 7.125, counts });
    Atomics.add(memory.version, 0, 1);
    expect(told(memory)).toBeUndefined();
  });
});
