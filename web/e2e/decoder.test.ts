// Browsers that lack the codec, or stop decoding.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, press, reach, screenshot, startBrowser, watchFrames } from "./support/browser";
import { foreignPage } from "./support/foreign";
import { SMALL, startHost } from "./support/host";
import { ask } from "./support/http";
import { until } from "./support/wait";

declare global {
  interface Window {
    /** Frames of pictures come to the decoder as noise. */
    spoil: boolean;
  }
}

test("a browser without any of the codecs is told what it lacks", async () => {
  const host = await startHost({ name: "no-codec" });
  const browser = await startBrowser();
  for (const only of ["VP8", "packetization-mode=0"]) {
    const page = await browser.window();
    await page.addInitScript((only) => {
      const all = RTCRtpReceiver.getCapabilities.bind(RTCRtpReceiver);
      RTCRtpReceiver.getCapabilities = (kind) => {
        const codecs = all(kind)?.codecs ?? [];
        const has = (text: string | undefined) => text?.includes(only);
        const kept = codecs.filter(
          ({ mimeType, sdpFmtpLine }) => has(mimeType) || has(sdpFmtpLine),
        );
        return { codecs: kept, headerExtensions: [] };
      };
    }, only);
    await page.goto(host.play);
    await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
    await press(page, "play");
    const { error } = await reach(page, "failed");
    expect(error?.code, only).toBe("no-codec");
    expect(error?.message).toContain("packetization mode 1");
    await page.close();
  }
  expect(host.log, "nothing was asked of the host").not.toContain("begun");
});

test.each([
  ["VP8", /VP8/i],
  ["H.264 in packetization mode 0", /packetization-mode=0/],
])("a player that takes only %s is refused by name", async (_, only) => {
  const host = await startHost({ name: "foreign-codec" });
  const browser = await startBrowser();
  const page = await foreignPage(browser, host);
  const answer = await page.evaluate(async (source) => {
    const only = new RegExp(source, "i");
    const peer = new RTCPeerConnection();
    const transceiver = peer.addTransceiver("video", { direction: "recvonly" });
    const codecs = RTCRtpReceiver.getCapabilities("video")?.codecs ?? [];
    transceiver.setCodecPreferences(
      codecs.filter(({ mimeType, sdpFmtpLine = "" }) => only.test(`${mimeType} ${sdpFmtpLine}`)),
    );
    const { sdp = "" } = await peer.createOffer();
    const headers = { "content-type": "application/sdp" };
    const response = await fetch("/whep", { method: "POST", headers, body: sdp });
    return { status: response.status, body: await response.json() };
  }, only.source);
  expect([answer.status, answer.body.error]).toEqual([406, "no-codec"]);
  expect(answer.body.message).toContain("packetization-mode=1");
});

test("a browser that takes the stream and decodes none of it says so", async () => {
  const host = await startHost({ name: "no-decode" });
  const browser = await startBrowser();
  const page = await spoiled(await browser.window(), host.play);
  await page.evaluate(() => {
    window.spoil = true;
  });
  await press(page, "play");
  const { error } = await reach(page, "failed");
  expect(error?.code).toBe("no-decode");
  await screenshot(page, "no-decode");
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a decoder that stops is replaced, and given up the second time", async () => {
  const host = await startHost({ name: "stalled", args: ["--log", "debug", ...SMALL] });
  const browser = await startBrowser();
  const page = await spoiled(await browser.window(), host.play);
  await press(page, "play");
  await reach(page, "playing");
  await watchFrames(page, 60);
  const before = await look(page);
  await spoil(page, true);
  await until("the page begins another session", async () => {
    return (await look(page)).session !== before.session;
  });
  await spoil(page, false);
  await reach(page, "playing");
  await watchFrames(page, 60);
  const after = await look(page);
  expect(after.reconnects).toBe(1);
  expect(host.log.match(/has stopped decoding: a keyframe for it/g)).toHaveLength(1);
  expect(host.log.match(/its page is told/g)).toHaveLength(1);
  expect((await ask(host.at("/metrics"))).text).toMatch(/^mimosa_decoder_stalls_total 1$/m);

  await spoil(page, true);
  const { error } = await reach(page, "failed");
  expect(error?.code).toBe("no-decode");
  await screenshot(page, "stalled");
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

/** Our page, in which frames can be made noise before they are decoded. */
async function spoiled(page: Page, url: string): Promise<Page> {
  await page.addInitScript(() => {
    window.spoil = false;
    const Original = RTCPeerConnection;
    type Streams = { readable: ReadableStream; writable: WritableStream };
    type Frame = { data: ArrayBuffer };
    window.RTCPeerConnection = class extends Original {
      constructor() {
        super({ encodedInsertableStreams: true } as RTCConfiguration);
        this.addEventListener("track", ({ receiver, track }) => {
          const streams = receiver as unknown as { createEncodedStreams(): Streams };
          const { readable, writable } = streams.createEncodedStreams();
          const spoil = new TransformStream<Frame, Frame>({
            transform(frame, to) {
              if (track.kind === "video" && window.spoil) {
                frame.data = new Uint8Array(frame.data.byteLength).fill(0x55).buffer;
              }
              to.enqueue(frame);
            },
          });
          void readable.pipeThrough(spoil).pipeTo(writable);
        });
      }
    };
  });
  await page.goto(url);
  await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
  return page;
}

function spoil(page: Page, now: boolean): Promise<void> {
  return page.evaluate((now) => {
    window.spoil = now;
  }, now);
}
