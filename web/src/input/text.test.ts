import { expect, it } from "vitest";
import { composes, encodeChange, encodeText } from "./text";

/** Characters as they are, keys by their number. */
function read(messages: readonly ArrayBuffer[]): string[] {
  return messages.map((message) => {
    const view = new DataView(message);
    return view.getUint8(0) === 20
      ? String.fromCodePoint(view.getUint32(4, true))
      : `${view.getUint16(2, true)} ${view.getUint8(1) ? "down" : "up"}`;
  });
}

it("sends each character of a text, and a line's end as a key", () => {
  expect(read(encodeText("é😀\r\nñ\u0007", 0))).toEqual(["é", "😀", "28 down", "28 up", "ñ"]);
});

it("leaves to the browser what is composed", () => {
  expect(composes({ key: "Dead", isComposing: false })).toBe(true);
  expect(composes({ key: "Process", isComposing: false })).toBe(true);
  expect(composes({ key: "Unidentified", isComposing: false })).toBe(true);
  expect(composes({ key: "e", isComposing: true })).toBe(true);
  expect(composes({ key: "e", isComposing: false })).toBe(false);
});

it("tells what a screen keyboard does as text or as a key", () => {
  const change = (inputType: string, data: string | null, isComposing = false) =>
    read(encodeChange({ inputType, data, isComposing }, 0));
  expect(change("insertText", "hé")).toEqual(["h", "é"]);
  expect(change("deleteContentBackward", null)).toEqual(["14 down", "14 up"]);
  expect(change("insertLineBreak", null)).toEqual(["28 down", "28 up"]);
  expect(change("insertCompositionText", "h", true)).toEqual([]);
  expect(change("insertText", "h", true)).toEqual([]);
  expect(change("insertFromPaste", "secret")).toEqual([]);
});
