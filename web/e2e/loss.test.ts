// Lost packets in a browser: sent again where there is time, else made good by FlexFEC.

import { describe, expect, test } from "vitest";
import { inbound, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { Link, noLink, SENDER_ADDRESS } from "./support/link";
import { writeFigures } from "./support/out";
import { follow, seen } from "./support/probe";
import { unlessStill } from "./support/standstill";
import { sleep } from "./support/wait";

const why = noLink();
const TOKEN = "loss-loss-loss-loss";
const WATCHED = 8_000;

describe.skipIf(why !== undefined && !process.env.CI)("a lossy link", () => {
  test("what is lost is made good where a round trip takes too long", () => unlessStill(far));
  test("what is lost is sent again where there is time", () => unlessStill(near));
});

async function far(): Promise<void> {
  const { lost, stats, frames, late } = await play("far", 60, []);
  expect(lost).toBeGreaterThan(20);
  expect(stats("fecPacketsReceived")).toBeGreaterThan(100);
  expect(stats("keyFramesDecoded")).toBeLessThanOrEqual(2);
  expect(frames).toBeGreaterThan(100);
  expect(late).toBeLessThan(0.01 * frames);
  // Sent again a packet comes 120 ms later.
  const again = await play("far-again", 60, ["--protection", "retransmission"]);
  expect(again.stats("fecPacketsReceived")).toBe(0);
  expect(again.stats("keyFramesDecoded")).toBeLessThanOrEqual(2);
  expect(again.late).toBeGreaterThan(5);
}

async function near(): Promise<void> {
  const { lost, stats, frames, late } = await play("near", 5, ["--repair-deadline", "100ms"]);
  expect(lost).toBeGreaterThan(20);
  expect(stats("fecPacketsReceived")).toBeLessThan(lost);
  expect(stats("keyFramesDecoded")).toBeLessThanOrEqual(2);
  expect(frames).toBeGreaterThan(100);
  expect(late).toBeLessThan(0.01 * frames);
}

/** Plays where two of a hundred packets are lost, so many milliseconds away. Late are
 * pictures that come 120 ms after the one before. */
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
    args: [
      ...["--bind", SENDER_ADDRESS, "--token", TOKEN, "--size", "640x360"],
      // A change of the entropy coding would take another keyframe.
      ...["--entropy-coding", "cabac"],
      ...args,
    ],
  });
  const browser = await startBrowser({ place: link.receiver });
  const page = await browser.play(host.play);
  await follow(page);
  await watchFrames(page, 60);
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
  const late = gaps.filter((gap) => gap > 120).length;
  const lost = stats("packetsLost");
  const keys = [
    "packetsReceived",
    "packetsLost",
    "fecPacketsReceived",
    "framesDecoded",
    "keyFramesDecoded",
    "nackCount",
    "freezeCount",
  ];
  const figures = {
    ...Object.fromEntries(keys.map((key) => [key, stats(key)])),
    longest_gap_ms: Math.max(...gaps),
    late_gaps: late,
  };
  writeFigures(`loss-${name}`, figures);
  console.log(name, JSON.stringify(figures));
  return { lost, stats, frames, late };
}
