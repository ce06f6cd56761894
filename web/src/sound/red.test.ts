import { describe, expect, it } from "vitest";
import { blocks } from "./red";

describe("A packet that repeats earlier frames", () => {
  const earlier = (age: number, length: number) => {
    const header = 0x80000000 + 111 * 0x1000000 + (age << 10) + length;
    return [24, 16, 8, 0].map((shift) => Math.floor(header / 2 ** shift) & 0xff);
  };

  it("is read with the oldest first", () => {
    const packet = [...earlier(960, 2), ...earlier(480, 3), 111, 1, 2, 3, 4, 5, 6, 7];
    expect(blocks(new Uint8Array(packet))).toEqual([
      { age: 960, data: new Uint8Array([1, 2]) },
      { age: 480, data: new Uint8Array([3, 4, 5]) },
      { age: 0, data: new Uint8Array([6, 7]) },
    ]);
  });

  it("may hold the newest alone", () => {
    expect(blocks(new Uint8Array([111, 9]))).toEqual([{ age: 0, data: new Uint8Array([9]) }]);
  });

  it("is refused when it ends too soon", () => {
    const whole = [...earlier(480, 3), 111, 3, 4, 5, 6];
    for (let length = 0; length < whole.length; length += 1) {
      expect(blocks(new Uint8Array(whole.slice(0, length)))).toBeUndefined();
    }
    expect(blocks(new Uint8Array(whole))).toHaveLength(2);
  });
});
