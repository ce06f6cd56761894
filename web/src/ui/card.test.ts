import { expect, it } from "vitest";
import { problem } from "../errors";
import { type CardSources, cardContent, deviceName, offer, reconnecting } from "./card";

const IDLE: CardSources = {
  state: "idle",
  problem: undefined,
  info: undefined,
  ending: undefined,
  waiting: undefined,
  cause: "",
  attempts: 0,
  hasPlayed: false,
  testing: false,
  line: undefined,
  viewerPage: false,
};

const INFO = {
  name: "mimosa",
  version: "0.1.0",
  token_required: false,
  source: "demo",
  width: 1280,
  height: 720,
  fps: 60,
  player_present: false,
  viewers: 0,
  viewer_limit: 4,
};

it("offers to play, and first to watch where somebody plays", () => {
  expect(cardContent({ ...IDLE, info: INFO })?.actions).toEqual(["play", "watch", "test-line"]);
  const taken = { ...INFO, player_present: true };
  expect(cardContent({ ...IDLE, info: taken })?.actions).toEqual(["watch", "play", "test-line"]);
  expect(cardContent({ ...IDLE, viewerPage: true })?.actions).toEqual(["watch", "test-line"]);
  expect(offer(INFO)).toBe("demo · 1280×720 · 60 fps");
});

it("says why no pictures come yet", () => {
  const waiting = "the game's window is not shown";
  const card = cardContent({ ...IDLE, state: "connecting", info: INFO, waiting });
  expect(card?.text).toBe("The game's window is not shown.");
});

it("leaves the place to the picture", () => {
  expect(cardContent({ ...IDLE, state: "playing" })).toBeUndefined();
  expect(cardContent({ ...IDLE, state: "watching" })).toBeUndefined();
  expect(cardContent({ ...IDLE, state: "reconnecting", hasPlayed: true })).toBeUndefined();
  expect(cardContent({ ...IDLE, state: "reconnecting" })).toBeDefined();
});

it("says what is wrong and what to do", () => {
  const taken = cardContent({ ...IDLE, state: "failed", problem: problem("player-present") });
  expect(taken).toMatchObject({ actions: ["watch", "retry"], token: false });
  const told = problem("host-full", "4 are watching, and no more may; try again later");
  expect(cardContent({ ...IDLE, state: "failed", problem: told })?.text).toMatch(/later\.$/);
  const locked = cardContent({ ...IDLE, state: "failed", problem: problem("token-wrong") });
  expect(locked).toMatchObject({ actions: [], token: true });
  const asked = cardContent({ ...IDLE, problem: problem("token-missing") });
  expect(asked).toMatchObject({ actions: [], token: true });
});

it("says why a session ended and that it is being made anew", () => {
  expect(cardContent({ ...IDLE, state: "ended", ending: "the game has ended" })).toMatchObject({
    text: "The game has ended.",
  });
  expect(reconnecting({ cause: "The connection failed", attempts: 3 })).toBe(
    "The connection failed. Trying again (attempt 3)…",
  );
  expect(reconnecting({ cause: "", attempts: 1 })).toBe("Connecting again…");
});

it("asks for a PIN where the host shows one, and for a token otherwise", () => {
  const missing = problem("token-missing");
  const card = (pairing: boolean, what = missing) => {
    const info = { name: "mimosa", version: "0.1.0", token_required: true, pairing };
    const { pin, token, actions } = cardContent({ ...IDLE, info, problem: what }) ?? {};
    return { pin, token, actions };
  };
  expect(card(true)).toEqual({ pin: true, token: true, actions: [] });
  expect(card(false)).toEqual({ pin: false, token: true, actions: [] });
  expect(card(true, problem("pin-wrong"))).toEqual({ pin: true, token: false, actions: [] });
  expect(card(true, problem("player-present")).pin).toBe(false);
});

it("calls a device by its browser and its system", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36";
  expect(deviceName(chrome)).toBe("Chrome on Linux");
  expect(deviceName("Mozilla/5.0 (Android 15; Mobile; rv:153.0) Firefox/153.0")).toBe(
    "Firefox on Android",
  );
  expect(deviceName("something")).toBe("Browser");
});

it("shows a test of the line, and then what it found beside the way on", () => {
  const testing = cardContent({ ...IDLE, state: "watching", testing: true });
  expect(testing?.title).toBe("Testing your line…");
  expect(testing?.actions).toEqual([]);
  const line = ["The line carries 20 Mbit/s.", "Packets come evenly."];
  const card = cardContent({ ...IDLE, state: "ended", line });
  expect(card?.text).toBe("The line carries 20 Mbit/s.\nPackets come evenly.");
  expect(card?.actions).toEqual(["play", "watch"]);
});
