// The page plays: a moving picture, complete statistics, one keyframe.

import { expect, test } from "vitest";
import type { Statistics } from "../src/session/messages";
import { inbound, look, screenshot, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { fingerprint, follow, newest, since } from "./support/probe";
import { until } from "./support/wait";

test("the page plays what the host streams", async () => {
  const host = await startHost({ name: "play" });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await follow(page);
  await watchFrames(page, 20);

  const first = await fingerprint(page);
  const before = await newest(page);
  await watchFrames(page, 60);
  const second = await fingerprint(page);
  const after = await newest(page);
  // One colour would be the same picture for ever.
  expect(first.colours).toBeGreaterThan(100);
  expect(second.hash).not.toBe(first.hash);
  const pictures = since(before?.pictures ?? 0, after?.pictures ?? 0);
  // The host may draw more pictures than the page shows, never fewer.
  expect(pictures).toBeGreaterThanOrEqual(30);
  expect(pictures).toBeLessThan(6_000);
  expect(since(before?.actions ?? 0, after?.actions ?? 0), "nobody did anything").toBe(0);

  const statistics = await until("the statistics are complete", async () => {
    const { statistics } = await look(page);
    return statistics && unknown(statistics).length === 0 && statistics;
  });
  expect(statistics.feedback).toBe("twcc-02");
  const { total, ...parts } = statistics.stages ?? {};
  const sum = Object.values(parts).reduce((sum: number, part) => sum + (part ?? 0), 0);
  expect(Object.keys(parts)).toHaveLength(6);
  expect(total).toBeGreaterThan(0);
  // Tenths that add up; only their binary fractions do not.
  expect(sum).toBeCloseTo(total ?? 0, 3);

  const received = await inbound(page);
  const { frames, retransmissions } = (await look(page)).statistics ?? {};
  if (received.packetsLost === 0 && retransmissions === 0) {
    expect(frames?.keyframes).toBe(1);
  }
  expect(received.framesDecoded).toBeGreaterThan(60);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("Ctrl+Alt+Shift+S shows and hides the statistics", async () => {
  const host = await startHost({ name: "overlay" });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  const overlay = page.locator("#statistics");
  expect(await overlay.isVisible()).toBe(false);
  await page.keyboard.press("Control+Alt+Shift+KeyS");
  await until("the statistics are shown", () => overlay.isVisible());
  await until("every line has its figures", async () => {
    const lines = await overlay.locator("dd").allInnerTexts();
    // Chromium tells its decoder's name only to pages that use the camera.
    const gaps = lines.filter((line) => line.replace("decoder –", "").includes("–"));
    return lines.length >= 10 && gaps.length === 0;
  });
  await watchFrames(page, 120);
  await screenshot(page, "play-statistics");
  await page.keyboard.press("Control+Alt+Shift+KeyS");
  await until("the statistics are hidden", async () => !(await overlay.isVisible()));
  await screenshot(page, "play");
});

/** Names of the values that are not known. */
function unknown(statistics: Statistics): string[] {
  const names = (value: unknown, name: string): string[] => {
    if (value === null || value === undefined) {
      return [name];
    }
    return typeof value === "object"
      ? Object.entries(value).flatMap(([key, inner]) => names(inner, `${name}.${key}`))
      : [];
  };
  return names(statistics, "statistics");
}
