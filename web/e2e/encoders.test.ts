// Encoders that are not the default play as well.

import { expect, test } from "vitest";
import { inbound, look, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { fingerprint } from "./support/probe";
import { until } from "./support/wait";

test("the page plays what OpenH264 codes", async () => {
  const host = await startHost({ name: "openh264", args: ["--encoder", "openh264"] });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, 20);
  const first = await fingerprint(page);
  await watchFrames(page, 60);
  const second = await fingerprint(page);
  // One colour would be the same picture for ever.
  expect(first.colours).toBeGreaterThan(100);
  expect(second.hash).not.toBe(first.hash);

  await page.keyboard.press("Control+Alt+Shift+KeyS");
  const overlay = page.locator("#statistics");
  await until("the statistics name the encoder", async () =>
    /encoder OpenH264 \d+\.\d+/.test(await overlay.innerText()),
  );
  const received = await inbound(page);
  const { frames, retransmissions } = (await look(page)).statistics ?? {};
  // It mends a loss by a keyframe, and a frame that does not fit; without losses these are
  // few.
  const decoded = Number(received.framesDecoded);
  if (received.packetsLost === 0 && retransmissions === 0) {
    expect(frames?.keyframes).toBeGreaterThanOrEqual(1);
    expect(frames?.keyframes).toBeLessThanOrEqual(1 + decoded / 30);
  }
  expect(received.framesDecoded).toBeGreaterThan(60);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});
