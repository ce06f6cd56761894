import { describe, expect, it } from "vitest";
import { captured, PICTURE_RATE, SkewMeter, SOUND_RATE } from "./clock";

describe("captured", () => {
  it("counts from the clock's pair, forwards and backwards", () => {
    const clock = { rtp: 90_000, time: 5_000 };
    expect(captured(clock, PICTURE_RATE, 180_000)).toBe(6_000);
    expect(captured(clock, SOUND_RATE, 90_000 - 480)).toBe(4_990);
  });

  it("goes on when RTP time wraps", () => {
    const clock = { rtp: 0xffffffff, time: 100 };
    expect(captured(clock, SOUND_RATE, 479)).toBe(110);
    expect(captured({ rtp: 479, time: 110 }, SOUND_RATE, 0xffffffff)).toBe(100);
  });
});

describe("skew", () => {
  it("is what sound is later, whatever the clocks show", () => {
    const meter = new SkewMeter();
    expect(meter.skew()).toBeNull();
    for (let frame = 0; frame < 60; frame += 1) {
      // The host's clock is a day behind; one picture in ten is late.
      const host = frame * 16 - 86_400_000;
      meter.picture(frame * 16 + (frame % 10 === 0 ? 90 : 30), host);
    }
    expect(meter.skew()).toBeNull();
    meter.sound(500, 500 - 62.5 - 86_400_000);
    expect(meter.skew()).toBe(32.5);
    meter.sound(600, 600 - 20 - 86_400_000);
    meter.sound(610, 610 - 20 - 86_400_000);
    expect(meter.skew()).toBe(-10);
  });

  it("forgets after two seconds", () => {
    const meter = new SkewMeter();
    meter.picture(0, 0);
    meter.sound(0, -100);
    meter.sound(2_500, 2_490);
    meter.picture(2_500, 2_500);
    expect(meter.skew()).toBe(10);
  });
});
