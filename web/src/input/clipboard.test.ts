import { beforeEach, expect, it } from "vitest";
import { type ClipboardBrowser, SharedClipboard } from "./clipboard";

let active: boolean;
let sent: string[];
let hints: string[];
/** The system's clipboard; `undefined` refuses. */
let content: string | undefined;
let state: PermissionState;

const host = {
  active: () => active,
  send: (message: string) => sent.push(JSON.parse(message).text),
  hint: (text: string) => hints.push(text),
};

const browser: ClipboardBrowser = {
  clipboard: {
    async readText() {
      if (content === undefined) {
        throw new DOMException("no", "NotAllowedError");
      }
      return content;
    },
    async writeText(text) {
      if (content === undefined) {
        throw new DOMException("no", "NotAllowedError");
      }
      content = text;
    },
  },
  permission: async () => state,
};

beforeEach(() => {
  active = true;
  sent = [];
  hints = [];
  content = "";
  state = "granted";
});

it("tells what was copied once, and not what the host has told", async () => {
  const clipboard = new SharedClipboard(host, browser);
  content = "one";
  await clipboard.read(false);
  await clipboard.read(false);
  await clipboard.copied("two");
  expect(content).toBe("two");
  await clipboard.read(false);
  expect(sent).toEqual(["one"]);
  clipboard.reset();
  await clipboard.read(false);
  expect(sent).toEqual(["one", "two"]);
});

it("neither reads nor writes where the host does not allow it", async () => {
  active = false;
  content = "mine";
  const clipboard = new SharedClipboard(host, browser);
  await clipboard.read(true);
  await clipboard.copied("two");
  expect([sent, content, hints]).toEqual([[], "mine", []]);
});

it("asks only in answer to a press", async () => {
  const clipboard = new SharedClipboard(host, browser);
  content = "one";
  state = "prompt";
  await clipboard.read(false);
  expect(sent).toEqual([]);
  await clipboard.read(true);
  expect(sent).toEqual(["one"]);
});

it("hints once that it may not read", async () => {
  const clipboard = new SharedClipboard(host, browser);
  state = "denied";
  await clipboard.read(true);
  await clipboard.read(true);
  expect(hints).toHaveLength(1);
  const insecure = new SharedClipboard(host, { ...browser, clipboard: undefined });
  await insecure.read(true);
  expect(hints).toHaveLength(2);
  expect(sent).toEqual([]);
});

it("writes later what the browser refuses at first", async () => {
  const clipboard = new SharedClipboard(host, browser);
  content = undefined;
  await clipboard.copied("two");
  content = "";
  await clipboard.write();
  expect(content).toBe("two");
  content = "three";
  await clipboard.write();
  expect(content).toBe("three");
});

it("does not send what no message can carry", async () => {
  const clipboard = new SharedClipboard(host, browser);
  content = "ä".repeat(32753);
  await clipboard.read(false);
  expect(sent).toHaveLength(1);
  content = "ä".repeat(32754);
  await clipboard.read(false);
  expect([sent.length, hints.length]).toEqual([1, 1]);
});
