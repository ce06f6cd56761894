// A WHEP client that is not our page: it knows the draft and nothing of ours.

import type { Page } from "playwright-core";
import type { Browser } from "./browser";
import type { Host } from "./host";

export interface ForeignOptions {
  /** What stands behind /whep. */
  readonly query?: string;
  /** Whether it takes the host's answer; otherwise it never connects. */
  readonly connects?: boolean;
  /** Data channels to open before the offer. */
  readonly channels?: readonly string[];
}

declare global {
  interface Window {
    foreign: {
      readonly peer: RTCPeerConnection;
      readonly channels: Readonly<Record<string, RTCDataChannel>>;
    };
  }
}

/** A page of the host's origin without our page's code. */
export async function foreignPage(browser: Browser, host: Host): Promise<Page> {
  const page = await browser.window();
  await page.goto(host.at("/api/info"));
  return page;
}

/** Offers, and shows the stream; gives status and body of the host's answer. */
export function foreignOffer(
  page: Page,
  { query = "", connects = true, channels = [] }: ForeignOptions = {},
): Promise<{ status: number; text: string; place: string | null }> {
  return page.evaluate(
    async ({ query, connects, channels }) => {
      const peer = new RTCPeerConnection();
      peer.addTransceiver("video", { direction: "recvonly" });
      const opened = channels.map((name) => [name, peer.createDataChannel(name)] as const);
      window.foreign = { peer, channels: Object.fromEntries(opened) };
      peer.addEventListener("track", ({ track }) => {
        const video = document.createElement("video");
        video.muted = true;
        video.srcObject = new MediaStream([track]);
        document.body.replaceChildren(video);
        void video.play();
      });
      await peer.setLocalDescription();
      const answer = await fetch(`/whep${query}`, {
        method: "POST",
        headers: { "content-type": "application/sdp" },
        body: peer.localDescription?.sdp ?? "",
      });
      const text = await answer.text();
      if (answer.status === 201 && connects) {
        await peer.setRemoteDescription({ type: "answer", sdp: text });
      }
      return { status: answer.status, text, place: answer.headers.get("location") };
    },
    { query, connects, channels },
  );
}

/** What getStats() counts: frames decoded, keyframes among them. */
export function foreignFrames(page: Page): Promise<{ decoded: number; keyframes: number }> {
  return page.evaluate(async () => {
    let frames = { decoded: 0, keyframes: 0 };
    (await window.foreign.peer.getStats()).forEach((entry) => {
      if (entry.type === "inbound-rtp" && entry.kind === "video") {
        frames = { decoded: entry.framesDecoded, keyframes: entry.keyFramesDecoded };
      }
    });
    return frames;
  });
}
