import { describe, expect, it } from "vitest";
import { FRAME, type Frame, Intake } from "./intake";

/** Packet `number` with so many earlier frames. */
function packet(intake: Intake, number: number, earlier = 0): string {
  const blocks = Array.from({ length: earlier + 1 }, (_, index) => ({
    age: (earlier - index) * FRAME,
    data: new Uint8Array([(number - earlier + index) & 0xff]),
  }));
  // The clock begins shortly before it wraps.
  return told(intake.packet((number * FRAME - 5_000) >>> 0, blocks));
}

/** The numbers of frames; those that tell the jitter with an exclamation mark. */
function told(frames: readonly Frame[]): string {
  return frames.map(({ data: [number], isPrompt }) => `${number}${isPrompt ? "!" : ""}`).join(" ");
}

describe("Frames on their way to the decoder", () => {
  it("leave as they come, and their times go on over the wrap", () => {
    const intake = new Intake();
    expect([10, 11, 12].map((number) => packet(intake, number))).toEqual(["10!", "11!", "12!"]);
    const [frame] = intake.packet(13 * FRAME - 5_000, [{ age: 0, data: new Uint8Array([13]) }]);
    const [next] = intake.packet(14 * FRAME - 5_000, [{ age: 0, data: new Uint8Array([14]) }]);
    expect((next?.at ?? 0) - (frame?.at ?? 0)).toBe(FRAME);
    expect(frame?.at).toBeGreaterThan(2 ** 32);
  });

  it("come once, however often they are repeated", () => {
    const intake = new Intake();
    packet(intake, 20);
    expect(packet(intake, 21, 1)).toBe("21!");
    expect(packet(intake, 22, 2)).toBe("22!");
    expect(packet(intake, 22, 2)).toBe("");
  });

  it("are there by what repeats them", () => {
    const intake = new Intake();
    packet(intake, 30, 2);
    // 31 and 32 are lost.
    expect(packet(intake, 33, 2)).toBe("31 32 33!");
  });

  it("wait for a missing one until the player has nothing left", () => {
    const intake = new Intake();
    packet(intake, 40);
    expect(packet(intake, 42)).toBe("");
    expect(packet(intake, 43)).toBe("");
    expect(told(intake.dry())).toBe("42 43");
    expect(packet(intake, 41), "too late").toBe("");
    expect(packet(intake, 44)).toBe("44!");
  });

  it("wait no longer where the player waits already", () => {
    const intake = new Intake();
    packet(intake, 50);
    expect(told(intake.dry())).toBe("");
    expect(packet(intake, 52)).toBe("52!");
    // The next gap is waited for again.
    expect(packet(intake, 54)).toBe("");
    expect(packet(intake, 53)).toBe("53! 54");
  });

  it("begin anew behind a long gap", () => {
    const intake = new Intake();
    packet(intake, 60);
    expect(packet(intake, 100, 2)).toBe("98 99 100!");
    expect(packet(intake, 62), "far too late").toBe("");
  });
});
