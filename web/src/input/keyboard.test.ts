import { beforeEach, expect, it } from "vitest";
import { Keyboard, type Stroke } from "./keyboard";

let active: boolean;
let sent: string[];
let combinations: string[];
let prevented: number;

const host = {
  active: () => active,
  composes: (event: Stroke) => event.key === "Dead",
  combination: (code: string) => combinations.push(code) > 0 && code === "KeyS",
  send: (data: ArrayBuffer) => {
    const view = new DataView(data);
    const name = view.getUint8(0) === 18 ? "release all" : `${view.getUint16(2, true)}`;
    sent.push(view.getUint8(0) === 16 ? `${name} ${view.getUint8(1) ? "down" : "up"}` : name);
  },
};

function stroke(code: string, more: Partial<Stroke> = {}): Stroke {
  return {
    code,
    key: "",
    isComposing: false,
    repeat: false,
    ctrlKey: false,
    altKey: false,
    shiftKey: false,
    preventDefault: () => {
      prevented += 1;
    },
    ...more,
  };
}

beforeEach(() => {
  active = true;
  sent = [];
  combinations = [];
  prevented = 0;
});

it("tells a key held down once, and keeps all of it from the browser", () => {
  const keyboard = new Keyboard(host, false);
  keyboard.down(stroke("KeyA"));
  keyboard.down(stroke("KeyA", { repeat: true }));
  keyboard.up(stroke("KeyA"));
  keyboard.up(stroke("KeyA"));
  expect(sent).toEqual(["30 down", "30 up"]);
  expect(prevented).toBe(3);
});

it("leaves keys to the page while the game has not got them, and unknown ones always", () => {
  const keyboard = new Keyboard(host, false);
  active = false;
  keyboard.down(stroke("KeyA"));
  active = true;
  keyboard.down(stroke("Unidentified"));
  expect([sent, prevented]).toEqual([[], 0]);
});

it("leaves to the browser what it makes text of", () => {
  const keyboard = new Keyboard(host, false);
  keyboard.down(stroke("Backquote", { key: "Dead" }));
  keyboard.up(stroke("Backquote", { key: "Dead" }));
  expect([sent, prevented]).toEqual([[], 0]);
});

it("knows keys without a place by what they do", () => {
  const keyboard = new Keyboard(host, false);
  keyboard.down(stroke("", { key: "Enter" }));
  keyboard.up(stroke("", { key: "Enter" }));
  expect(sent).toEqual(["28 down", "28 up"]);
});

it("lets go of a key also after the game lost the keys", () => {
  const keyboard = new Keyboard(host, false);
  keyboard.down(stroke("KeyA"));
  active = false;
  keyboard.up(stroke("KeyA"));
  expect(sent).toEqual(["30 down", "30 up"]);
});

it("keeps Ctrl+Alt+Shift with a key from the game, but not the three themselves", () => {
  const keyboard = new Keyboard(host, false);
  const all = { ctrlKey: true, altKey: true, shiftKey: true };
  keyboard.down(stroke("ShiftLeft", all));
  keyboard.down(stroke("KeyS", all));
  keyboard.down(stroke("KeyJ", all));
  expect(sent).toEqual(["42 down"]);
  expect(combinations).toEqual(["KeyS", "KeyJ"]);
  expect(prevented).toBe(2);
});

it("tells no key up that release all has told", () => {
  const keyboard = new Keyboard(host, false);
  keyboard.down(stroke("KeyA"));
  keyboard.releaseAll();
  keyboard.up(stroke("KeyA"));
  expect(sent).toEqual(["30 down", "release all"]);
});

it("lets go of what macOS does not tell while Command is down", () => {
  const keyboard = new Keyboard(host, true);
  keyboard.down(stroke("MetaLeft"));
  keyboard.down(stroke("KeyA"));
  keyboard.down(stroke("ShiftLeft"));
  keyboard.up(stroke("MetaLeft"));
  expect(sent).toEqual(["125 down", "30 down", "42 down", "125 up", "30 up"]);
});
