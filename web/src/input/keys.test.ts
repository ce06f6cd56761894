import { expect, it } from "vitest";
import { knownKeys, linuxKeyCode } from "./keys";

/**
 * Numbers of input-event-codes.h: the last key of each row of the table, which a
 * slip within the row would move, and every key that stands alone.
 */
const WITNESSES: Readonly<Record<string, number>> = {
  Escape: 1, // KEY_ESC
  Digit0: 11, // KEY_0
  Backspace: 14, // KEY_BACKSPACE
  Enter: 28, // KEY_ENTER
  Backquote: 41, // KEY_GRAVE
  ShiftRight: 54, // KEY_RIGHTSHIFT
  CapsLock: 58, // KEY_CAPSLOCK
  F10: 68, // KEY_F10
  ScrollLock: 70, // KEY_SCROLLLOCK
  NumpadSubtract: 74, // KEY_KPMINUS
  NumpadAdd: 78, // KEY_KPPLUS
  NumpadDecimal: 83, // KEY_KPDOT
  Lang5: 85, // KEY_ZENKAKUHANKAKU
  IntlBackslash: 86, // KEY_102ND
  F12: 88, // KEY_F12
  IntlRo: 89, // KEY_RO
  NonConvert: 94, // KEY_MUHENKAN
  AltRight: 100, // KEY_RIGHTALT
  Delete: 111, // KEY_DELETE
  NumpadEqual: 117, // KEY_KPEQUAL
  IntlYen: 124, // KEY_YEN
  MetaRight: 126, // KEY_RIGHTMETA
  ContextMenu: 127, // KEY_COMPOSE
  Undo: 131, // KEY_UNDO
  Help: 138, // KEY_HELP
  LaunchApp1: 144, // KEY_FILE
  BrowserFavorites: 156, // KEY_BOOKMARKS
  BrowserForward: 159, // KEY_FORWARD
  MediaRewind: 168, // KEY_REWIND
  BrowserRefresh: 173, // KEY_REFRESH
  NumpadParenRight: 180, // KEY_KPRIGHTPAREN
  F13: 183, // KEY_F13
  F24: 194, // KEY_F24
  MediaFastForward: 208, // KEY_FASTFORWARD
  BrightnessUp: 225, // KEY_BRIGHTNESSUP
  KeyboardBacklightToggle: 228, // KEY_KBDILLUMTOGGLE
  LaunchApp2: 140, // KEY_CALC
  LaunchScreenSaver: 152, // KEY_SCREENLOCK
  Eject: 161, // KEY_EJECTCD
  MediaPause: 201, // KEY_PAUSECD
  BrowserSearch: 217, // KEY_SEARCH
  MicrophoneMuteToggle: 248, // KEY_MICMUTE
  Select: 353, // KEY_SELECT
  NumpadClear: 355, // KEY_CLEAR
  ZoomToggle: 372, // KEY_ZOOM
  Fn: 464, // KEY_FN
};

/** KEY_A to KEY_Z. */
const LETTERS = [
  30, 48, 46, 32, 18, 33, 34, 35, 23, 36, 37, 38, 50, 49, 24, 25, 16, 19, 31, 20, 22, 47, 17, 45,
  21, 44,
];

it("knows every key of a usual keyboard", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter) => `Key${letter}`);
  const digits = [..."0123456789"].flatMap((digit) => [`Digit${digit}`, `Numpad${digit}`]);
  const functions = Array.from({ length: 24 }, (_, index) => `F${index + 1}`);
  for (const code of [...letters, ...digits, ...functions]) {
    expect(linuxKeyCode(code), code).toBeGreaterThan(0);
  }
  expect(linuxKeyCode("KeyM")).toBe(50);
  expect(linuxKeyCode("")).toBeUndefined();
  expect(linuxKeyCode("Unidentified")).toBeUndefined();
});

it("gives two keys one number only where they are one key", () => {
  const seconds = ["NumpadStar", "VolumeMute", "VolumeDown", "VolumeUp", "OSLeft", "OSRight"];
  const first = knownKeys().filter((code) => !seconds.includes(code));
  expect(new Set(first.map(linuxKeyCode)).size).toBe(first.length);
});

it("agrees with Linux", () => {
  for (const [code, number] of Object.entries(WITNESSES)) {
    expect(linuxKeyCode(code), code).toBe(number);
  }
  for (const [index, number] of LETTERS.entries()) {
    const code = `Key${String.fromCharCode(65 + index)}`;
    expect(linuxKeyCode(code), code).toBe(number);
  }
});
