// Others watch beside the player.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, press, reach, screenshot, startBrowser, watchFrames } from "./support/browser";
import { foreignOffer, foreignPage } from "./support/foreign";
import { type Host, SMALL, startHost } from "./support/host";
import { ask } from "./support/http";
import { fingerprint, follow, newest, since } from "./support/probe";
import { sleep, until } from "./support/wait";

/** Time in which an action that counts would show. */
const SETTLE = 1_000;

test("viewers who never connect make room, and those who watch stay", async () => {
  const host = await startHost({ name: "unconnected", args: ["--viewers", "2", ...SMALL] });
  const browser = await startBrowser();
  const foreign = await foreignPage(browser, host);
  const offer = async () => (await foreignOffer(foreign, { connects: false })).status;
  for (let number = 0; number < 5; number++) {
    expect(await offer(), `offer ${number}`).toBe(201);
  }
  const viewer = await browser.open(host.watch);
  await reach(viewer, "watching");
  await watchFrames(viewer, 30);
  for (let number = 0; number < 3; number++) {
    expect(await offer(), `offer ${number} beside a viewer`).toBe(201);
  }
  await watchFrames(viewer, 30);
  expect((await look(viewer)).state).toBe("watching");
});

test("one plays, one watches, no more than that", async () => {
  const host = await startHost({ name: "viewers", args: ["--viewers", "1", ...SMALL] });
  const browser = await startBrowser();
  const player = await browser.play(host.play);
  await follow(player);
  const second = await browser.open(host.at("/"));
  // A person who does not see that the place is taken.
  await press(second, "play");
  const { error } = await reach(second, "failed");
  expect(error?.code).toBe("player-present");
  await screenshot(second, "player-present");
  await press(second, "watch");
  await reach(second, "watching");
  for (const page of [player, second]) {
    await watchFrames(page, 30);
    const first = await fingerprint(page);
    await watchFrames(page, 30);
    const later = await fingerprint(page);
    expect(first.colours).toBeGreaterThan(100);
    expect(later.hash).not.toBe(first.hash);
  }
  const info = JSON.parse((await ask(host.at("/api/info"))).text);
  expect(info).toMatchObject({ player_present: true, viewers: 1, viewer_limit: 1 });
  await until("the player is told", async () => (await look(player)).statistics?.viewers === 1);
  await screenshot(second, "watching");

  // Keys and buttons at the page that watches.
  const start = await actions(player);
  await second.bringToFront();
  await second.keyboard.press("KeyD");
  await second.mouse.click(640, 360);
  await sleep(SETTLE);
  expect(since(start, await actions(player))).toBe(0);
  await player.bringToFront();
  await player.keyboard.press("KeyD");
  await until("the player's key counts", async () => since(start, await actions(player)) === 2);

  const third = await browser.open(host.watch);
  expect((await reach(third, "failed")).error?.code).toBe("host-full");
  const foreign = await foreignPage(browser, host);
  expect((await foreignOffer(foreign)).status).toBe(503);
  expect((await foreignOffer(foreign, { query: "?role=player" })).status).toBe(409);

  // The place is free again when the player has left.
  await player.close();
  await until("the player has left", async () => {
    return !JSON.parse((await ask(host.at("/api/info"))).text).player_present;
  });
  const next = await browser.play(host.play);
  await watchFrames(next, 10);
});

test("the host ignores a viewer's input", async () => {
  const host = await startHost({ name: "viewers-input", args: SMALL });
  const browser = await startBrowser();
  // The counter is in every viewer's picture.
  const seeing = await browser.open(host.watch);
  await reach(seeing, "watching");
  await follow(seeing);
  await until("the marker is read", () => newest(seeing));
  const start = await actions(seeing);

  await sendKeys(await foreign(browser, host, "?role=viewer"));
  await sleep(SETTLE);
  expect(since(start, await actions(seeing))).toBe(0);
  // The same from a player counts.
  await sendKeys(await foreign(browser, host, "?role=player"));
  await until("the keys count", async () => since(start, await actions(seeing)) === 2);
});

async function actions(page: Page): Promise<number> {
  return (await newest(page))?.actions ?? Number.NaN;
}

async function foreign(
  browser: Awaited<ReturnType<typeof startBrowser>>,
  host: Host,
  query: string,
): Promise<Page> {
  const page = await foreignPage(browser, host);
  const { status } = await foreignOffer(page, { query, channels: ["keys"] });
  expect(status).toBe(201);
  await until("the channel is open", () =>
    page.evaluate(() => window.foreign.channels.keys?.readyState === "open"),
  );
  return page;
}

/** Presses D and lets it go, in the words of docs/embed/protocol.md. */
function sendKeys(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const down of [1, 0]) {
      const message = new DataView(new ArrayBuffer(12));
      message.setUint8(0, 16);
      message.setUint8(1, down);
      message.setUint16(2, 32, true);
      message.setFloat64(4, performance.now(), true);
      window.foreign.channels.keys?.send(message.buffer);
    }
  });
}
