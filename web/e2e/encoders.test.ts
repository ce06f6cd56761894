// Encoders that are not the default play as well.

import { expect, test } from "vitest";
import { inbound, look, press, reach, startBrowser, watchFrames } from "./support/browser";
import { SMALL, startHost } from "./support/host";
import { fingerprint, follow, newest, since } from "./support/probe";
import { until } from "./support/wait";

test.each([
  { encoder: "openh264", codec: "H264", mime: "video/H264", shown: /encoder OpenH264 \d+\.\d+/ },
  { encoder: "svt-av1", codec: "AV1", mime: "video/AV1", shown: /encoder SVT-AV1 v?\d+\.\d+/ },
])("the page plays what $encoder codes", async ({ encoder, codec, mime, shown }) => {
  const host = await startHost({ name: encoder, args: ["--encoder", encoder, ...SMALL] });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await follow(page);
  await watchFrames(page, 20);
  const first = await fingerprint(page);
  const before = await until("a picture has the marker", () => newest(page));
  await watchFrames(page, 60);
  const second = await fingerprint(page);
  const after = await newest(page);
  // One colour would be the same picture for ever.
  expect(first.colours).toBeGreaterThan(100);
  expect(second.hash).not.toBe(first.hash);
  // The pictures are the demo's, in their order: their marker counts them.
  const pictures = since(before.pictures ?? 0, after?.pictures ?? 0);
  expect(pictures).toBeGreaterThanOrEqual(30);
  expect(pictures).toBeLessThan(6_000);

  await page.keyboard.press("Control+Alt+Shift+KeyS");
  const overlay = page.locator("#statistics");
  await until("the statistics name the codec and the encoder", async () => {
    const text = await overlay.innerText();
    return text.includes(codec) && shown.test(text);
  });
  const received = await inbound(page);
  expect(received.mimeType).toBe(mime);
  const { frames, retransmissions } = (await look(page)).statistics ?? {};
  // Both mend a loss by a keyframe, and OpenH264 a frame that does not fit; without losses
  // these are few.
  const decoded = Number(received.framesDecoded);
  if (received.packetsLost === 0 && retransmissions === 0) {
    expect(frames?.keyframes).toBeGreaterThanOrEqual(1);
    expect(frames?.keyframes).toBeLessThanOrEqual(1 + decoded / 30);
  }
  expect(received.framesDecoded).toBeGreaterThan(60);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a browser without AV1 gets H.264 from a host of AV1", async () => {
  const host = await startHost({ name: "av1-fallback", args: ["--encoder", "svt-av1", ...SMALL] });
  const browser = await startBrowser();
  const page = await browser.window();
  await page.addInitScript(() => {
    const all = RTCRtpReceiver.getCapabilities.bind(RTCRtpReceiver);
    RTCRtpReceiver.getCapabilities = (kind) => {
      const codecs = all(kind)?.codecs ?? [];
      const kept = codecs.filter(({ mimeType }) => mimeType !== "video/AV1");
      return { codecs: kept, headerExtensions: [] };
    };
  });
  await page.goto(host.play);
  await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
  await press(page, "play");
  await reach(page, "playing");
  await watchFrames(page, 20);
  expect((await inbound(page)).mimeType).toBe("video/H264");
  expect(host.log).toContain("viewers without AV1 get H264");
});
