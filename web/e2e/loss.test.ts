// Lost packets in a browser: sent again where there is time, else made good by FlexFEC.

import { describe, expect, test } from "vitest";
import { inbound, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { Link, noLink, SENDER_ADDRESS } from "./support/link";
import { writeFigures } from "./support/out";
import { follow, seen } from "./support/probe";
import { sleep } from "./support/wait";

const why = noLink();
const TOKEN = "loss-loss-loss-loss";
const WATCHED = 10_000;

describe.skipIf(why !== undefined && !process.env.CI)("a lossy link", () => {
  test("what is lost is made good without a round trip where one takes too long", async () => {
    const { lost, stats, frames, gaps } = await play("far", 60, []);
    expect(lost).toBeGreaterThan(20);
    // Of the packets that are lost some are repair packets, which nobody needs then.
    expect(stats("fecPacketsReceived")).toBeGreaterThan(100);
    expect(stats("retransmittedPacketsReceived")).toBeLessThan(0.3 * lost);
    expect(stats("keyFramesDecoded")).toBeLessThanOrEqual(2);
    expect(frames).toBeGreaterThan(100);
    // Sent again a packet would come 120 ms later.
    expect(gaps.filter((gap) => gap > 120).length).toBeLessThan(0.01 * frames);
  });

  test("what is lost is sent again where there is time", async () => {
    const { lost, stats, frames, gaps } = await play("near", 5, []);
    expect(lost).toBeGreaterThan(20);
    expect(stats("fecPacketsReceived")).toBeLessThan(lost);
    expect(stats("retransmittedPacketsReceived")).toBeGreaterThan(0.5 * lost);
    expect(stats("keyFramesDecoded")).toBeLessThanOrEqual(2);
    expect(frames).toBeGreaterThan(100);
    expect(gaps.filter((gap) => gap > 120).length).toBeLessThan(0.01 * frames);
  });
});

/** Plays where two of a hundred packets are lost, so many milliseconds away. */
async function play(name: string, delay: number, args: string[]) {
  const network = `
[link]
rate = "20Mbit/s"
one_way_delay = "${delay}ms"
loss = 0.02
`;
  const link = new Link(`loss-${name}`, network);
  const host = await startHost({
    name: `loss-${name}`,
    place: link.sender,
    args: ["--bind", SENDER_ADDRESS, "--token", TOKEN, "--size", "640x360", ...args],
  });
  const browser = await startBrowser({ place: link.receiver });
  const page = await browser.play(host.play);
  await follow(page);
  await watchFrames(page, 60);
  const begin = performance.now();
  await sleep(WATCHED);
  const pictures = (await seen(page)).slice(-Math.floor(WATCHED / 1_000) * 30);
  const counts = await inbound(page);
  await page.close();
  await host.stop();
  link.down();
  const stats = (key: string) => Number(counts[key] ?? 0);
  const gaps = pictures.map(({ presented }, index, all) => {
    return presented - (all[index - 1]?.presented ?? presented);
  });
  const frames = pictures.length;
  const lost = stats("packetsLost");
  const keys = [
    "packetsReceived",
    "packetsLost",
    "fecPacketsReceived",
    "retransmittedPacketsReceived",
    "framesDecoded",
    "keyFramesDecoded",
    "nackCount",
    "freezeCount",
  ];
  const figures = {
    ...Object.fromEntries(keys.map((key) => [key, stats(key)])),
    seconds: (performance.now() - begin) / 1_000,
    longest_gap_ms: Math.max(...gaps),
    late_gaps: gaps.filter((gap) => gap > 120).length,
  };
  writeFigures(`loss-${name}`, figures);
  console.log(name, JSON.stringify(figures));
  return { lost, stats, frames, gaps };
}
