// The page plays: a moving picture, complete statistics, one keyframe.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Statistics } from "../src/session/messages";
import { inbound, look, screenshot, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { fingerprint, follow, newest, since } from "./support/probe";
import { until } from "./support/wait";

test("the page plays what the host streams", async () => {
  // A change of the entropy coding would take another keyframe.
  const host = await startHost({ name: "play", args: ["--entropy-coding", "cabac"] });
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
    // What of a decision is not known depends on the controller; without trouble there is no why, nothing
    // is spared, and nobody has limited the stream.
    const { decision, why: _, relief: __, limit: ___, ...others } = statistics ?? {};
    return statistics && decision && unknown(others).length === 0 && statistics;
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

test("a stream with many bits comes to be coded by CAVLC, and plays on", async () => {
  const host = await startHost({ name: "cavlc", args: ["--finest-quantiser", "4"] });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  const keyframes = async () => (await look(page)).statistics?.frames?.keyframes ?? 0;
  await until("another encoder begins with a keyframe", async () => (await keyframes()) > 1);
  const decoded = async () => Number((await inbound(page)).framesDecoded);
  const before = await decoded();
  await until("it plays on", async () => (await decoded()) > before + 120);
  expect(await keyframes(), "once").toBe(2);
  expect(host.log).toMatch(/cavlc/);
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

test("a player saves data and says how much there is in a month", async () => {
  const host = await startHost({ name: "data" });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  const bitrate = async () => (await look(page)).statistics?.bitrate ?? 0;
  await until("the stream takes more", async () => (await bitrate()) > 7e6);
  // While the pointer is held, there is no bar.
  await page.keyboard.press("Control+Alt+Shift+KeyZ");
  await page.locator("#settings-open").click();
  const dialog = page.locator("#settings");
  await dialog.locator("input[name=saveData]").check();
  await dialog.locator("input[name=shortStatistics]").check();
  await dialog.locator("input[name=monthlyData]").fill("1000");
  const note = dialog.locator("#data-note");
  const words = /^0\.0 of 1000 GB used, .*; at most 5\.0 Mbit\/s to save data\.$/;
  await until("the month's data is said", async () => words.test(await note.innerText()));
  await until("the host keeps to it", async () => {
    const { statistics } = await look(page);
    const { limit, bitrate } = statistics ?? {};
    return limit === 5e6 && typeof bitrate === "number" && bitrate < 5.2e6 && bitrate > 3e6;
  });
  await screenshot(page, "data-settings");
  await dialog.locator("button[type=submit]").click();
  await page.locator("#statistics-toggle").click();
  const line = page.locator("#statistics .short");
  await until("one line has the statistics", async () => {
    return /^[45]\.\d Mbit\/s · [12]\.\d GB an hour · \d+ fps · \d+ ms/.test(
      await line.innerText(),
    );
  });
  expect(await page.locator("#statistics dl").isVisible()).toBe(false);
  await screenshot(page, "data-line");

  // The month's data is used up but for what lasts at a megabit.
  await page.evaluate(() => {
    const today = Math.floor(Date.now() / 86_400_000);
    const days = [-1, 0, 1].map((back) => [String(today + back), [999e9, 3600]]);
    localStorage.setItem("mimosa.data", JSON.stringify(Object.fromEntries(days)));
  });
  await until("the month's limit is the smaller one", async () => {
    return (await look(page)).statistics?.limit === 1e6;
  });
  expect(host.log).toContain("the viewer limits the stream");
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

/** The page from its own point of view: a laptop's, a phone's upright and on its side. */
const VIEWS = [
  { name: "", width: 1280, height: 720 },
  { name: "-phone", width: 390, height: 844 },
  { name: "-phone-sideways", width: 844, height: 390 },
] as const;

test.each(["mimosa", "pudica"])("the statistics say what %s has decided and why", async (name) => {
  const host = await startHost({
    name: `decisions-${name}`,
    args: ["--controller", name, "--max-bitrate", "8Mbit/s"],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  const overlay = page.locator("#statistics");
  await page.keyboard.press("Control+Alt+Shift+KeyS");
  const { reason } = await until("the controller has decided something", async () => {
    const { statistics } = await look(page);
    const { cause, decision } = statistics ?? {};
    return cause && cause !== "start" && decision?.smoothed_utilisation ? decision : undefined;
  });
  expect(reason).toMatch(/^[a-z].*: [a-z]/);
  const row = (label: string) => overlay.locator("dl div", { hasText: label }).locator("dd");
  await until("the evidence for it is shown", async () => {
    return /^busy \d+ % · smoothed \d+ %/.test(await row("Evidence").innerText());
  });
  expect(await row("Decision").innerText()).toMatch(/^[a-z].*: [a-z]/);
  expect(await row("Sending").innerText()).toMatch(/^(all at once|spread over [\d.]+ ms)/);
  await watchFrames(page, 120);
  for (const { name: view, width, height } of VIEWS) {
    await page.setViewportSize({ width, height });
    await watchFrames(page, 30);
    expect(await overflows(page), `at ${width}x${height}`).toEqual([]);
    await screenshot(page, `decisions-${name}${view}`);
  }
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

/** What of the statistics is cut off, by class or element. */
function overflows(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const overlay = document.querySelector("#statistics");
    const frame = overlay?.getBoundingClientRect();
    const parts = [...(overlay?.querySelectorAll("*") ?? [])];
    return parts
      .filter((part) => {
        const { width, right, bottom } = part.getBoundingClientRect();
        return frame && width > 0 && (right > frame.right + 0.5 || bottom > frame.bottom + 0.5);
      })
      .map((part) => `${part.tagName} ${part.className}`);
  });
}

/** Names of the values that are not known. */
function unknown(statistics: Partial<Statistics>): string[] {
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
