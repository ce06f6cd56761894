// From a physical key as the browser names it (`KeyboardEvent.code`, UI Events)
// to the number Linux has for it (`KEY_…` in input-event-codes.h).
//
// Both name places on a keyboard, not letters, so the layout stays the host's.

/** Rows of neighbours whose numbers follow each other in Linux. */
const ROWS: readonly (readonly [first: number, codes: string])[] = [
  [1, "Escape Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0"],
  [12, "Minus Equal Backspace"],
  [15, "Tab KeyQ KeyW KeyE KeyR KeyT KeyY KeyU KeyI KeyO KeyP BracketLeft BracketRight Enter"],
  [29, "ControlLeft KeyA KeyS KeyD KeyF KeyG KeyH KeyJ KeyK KeyL Semicolon Quote Backquote"],
  [42, "ShiftLeft Backslash KeyZ KeyX KeyC KeyV KeyB KeyN KeyM Comma Period Slash ShiftRight"],
  [55, "NumpadMultiply AltLeft Space CapsLock"],
  [59, "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10"],
  [69, "NumLock ScrollLock"],
  [71, "Numpad7 Numpad8 Numpad9 NumpadSubtract"],
  [75, "Numpad4 Numpad5 Numpad6 NumpadAdd"],
  [79, "Numpad1 Numpad2 Numpad3 Numpad0 NumpadDecimal"],
  [85, "Lang5 IntlBackslash F11 F12"],
  [89, "IntlRo Lang3 Lang4 Convert KanaMode NonConvert"],
  [96, "NumpadEnter ControlRight NumpadDivide PrintScreen AltRight"],
  [102, "Home ArrowUp PageUp ArrowLeft ArrowRight End ArrowDown PageDown Insert Delete"],
  [113, "AudioVolumeMute AudioVolumeDown AudioVolumeUp Power NumpadEqual"],
  [119, "Pause SelectTask NumpadComma Lang1 Lang2 IntlYen MetaLeft MetaRight ContextMenu"],
  [128, "BrowserStop Again Props Undo"],
  [133, "Copy Open Paste Find Cut Help"],
  [142, "Sleep WakeUp LaunchApp1"],
  [155, "LaunchMail BrowserFavorites"],
  [158, "BrowserBack BrowserForward"],
  [163, "MediaTrackNext MediaPlayPause MediaTrackPrevious MediaStop MediaRecord MediaRewind"],
  [171, "MediaSelect BrowserHome BrowserRefresh"],
  [179, "NumpadParenLeft NumpadParenRight"],
  [183, "F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24"],
  [207, "MediaPlay MediaFastForward"],
  [224, "BrightnessDown BrightnessUp"],
  [227, "DisplayToggleIntExt KeyboardBacklightToggle"],
];

/** Keys that stand alone, and second names of keys from the rows. */
const SINGLE: Readonly<Record<string, number>> = {
  NumpadStar: 55,
  VolumeMute: 113,
  VolumeDown: 114,
  VolumeUp: 115,
  OSLeft: 125,
  OSRight: 126,
  LaunchApp2: 140,
  LaunchScreenSaver: 152,
  Eject: 161,
  MediaPause: 201,
  BrowserSearch: 217,
  MicrophoneMuteToggle: 248,
  Select: 353,
  NumpadClear: 355,
  ZoomToggle: 372,
  Fn: 464,
};

const LINUX_CODES: ReadonlyMap<string, number> = new Map([
  ...ROWS.flatMap(([first, codes]) =>
    codes.split(" ").map((code, index): [string, number] => [code, first + index]),
  ),
  ...Object.entries(SINGLE),
]);

/** The Linux number of a physical key, or `undefined` where it has none. */
export function linuxKeyCode(code: string): number | undefined {
  return LINUX_CODES.get(code);
}

/** Every name in the table. */
export function knownKeys(): readonly string[] {
  return [...LINUX_CODES.keys()];
}
