// Players that are not our page, and browsers without the newest feedback.

import { expect, test } from "vitest";
import { look, press, reach, startBrowser, watchFrames } from "./support/browser";
import { foreignFrames, foreignOffer, foreignPage } from "./support/foreign";
import { SMALL, startHost } from "./support/host";
import { fingerprint, messages } from "./support/probe";
import { until } from "./support/wait";

/** Kinds of messages: docs/embed/protocol.md. */
const SHOWN = 32;
const DECODED = 33;

test("a WHEP player without our page's code watches", async () => {
  const host = await startHost({ name: "whep", args: SMALL });
  const browser = await startBrowser();
  const page = await foreignPage(browser, host);
  const { status, text, place } = await foreignOffer(page);
  expect(status).toBe(201);
  expect(place).toMatch(/^whep\/[0-9a-f]{32}$/);
  await until("60 frames are decoded", async () => (await foreignFrames(page)).decoded >= 60);
  const first = await fingerprint(page);
  await until("60 frames more", async () => (await foreignFrames(page)).decoded >= 120);
  const second = await fingerprint(page);
  expect(first.colours).toBeGreaterThan(100);
  expect(second.hash).not.toBe(first.hash);

  // What Chromium offers without being asked for more.
  expect(host.log).toContain('role="viewer" feedback="twcc-01"');
  expect(text).toContain("draft-holmer-rmcat-transport-wide-cc-extensions-01");
  expect(text).not.toContain("transport-wide-cc-02");

  const status2 = await page.evaluate(async (place) => {
    // As a browser resolves `Location`: from the address of the request.
    const session = new URL(place ?? "", new URL("/whep", location.href));
    return (await fetch(session, { method: "DELETE" })).status;
  }, place);
  expect(status2).toBe(200);
  await until("the host ends the session", () => host.log.includes('reason="left"'));
});

test("the page plays with the older feedback", async () => {
  const host = await startHost({ name: "feedback", args: SMALL });
  const browser = await startBrowser();
  const newest = await browser.play(host.play);
  await watchFrames(newest, 60);
  expect(await messages(newest, DECODED), "messages nobody needs").toBe(0);
  expect(await messages(newest, SHOWN)).toBeGreaterThanOrEqual(60);
  await newest.close();

  const older = await browser.open(host.at("/?feedback=twcc-01"));
  await press(older, "play");
  await reach(older, "playing");
  await watchFrames(older, 60);
  const statistics = await until("the statistics tell it", async () => {
    const { statistics } = await look(older);
    return (statistics?.frames?.acknowledged ?? 0) > 60 && statistics;
  });
  expect(statistics.feedback).toBe("twcc-01");
  expect(await messages(older, DECODED)).toBeGreaterThanOrEqual(60);
  // The rate is not the one for who reports nothing.
  await until("the rate rises", async () => {
    return ((await look(older)).statistics?.target ?? 0) > 5_000_000;
  });
  expect(host.log).toContain('role="player" feedback="twcc-01"');
});
