// The stream across emulated links: a Wi-Fi trace, and two queues beside a download of
// the kernel's TCP.

import { spawn } from "node:child_process";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { look, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { Link, noLink, SENDER_ADDRESS } from "./support/link";
import { outFile, ROOT, writeFigures } from "./support/out";
import { at, type Place } from "./support/place";
import { follow, seen } from "./support/probe";
import { drawReport, type Joined, report } from "./support/report";
import { unlessStill } from "./support/standstill";
import { sleep } from "./support/wait";

const why = noLink();
/** How long the stream is watched. */
const WATCHED = 12_000;
const TOKEN = "link-link-link-link";

/** The longest of the trace: `mimosa trace inspect traces/wifi.txt`. */
const OUTAGE = 1_900;
const WIFI = `
[link]
trace = "${ROOT}traces/wifi.txt"
one_way_delay = "5ms"
queue = { kind = "droptail", limit = "200ms" }
`;

// As the study of HTB and L4S has it: the game's class is guaranteed its rate, and
// what one class leaves the other may take.
const HTB = `
[link]
rate = "30Mbit/s"
one_way_delay = "5ms"
queue = { kind = "htb", default = "rest" }
[[link.class]]
name = "all"
rate = "29.5Mbit/s"
[[link.class]]
name = "game"
parent = "all"
rate = "15Mbit/s"
ceil = "29.5Mbit/s"
queue = { kind = "sfq" }
match = [{ protocol = "udp" }]
[[link.class]]
name = "rest"
parent = "all"
rate = "14.5Mbit/s"
ceil = "29.5Mbit/s"
priority = 1
queue = { kind = "sfq" }
`;

const DUALPI2 = `
[link]
rate = "30Mbit/s"
one_way_delay = "5ms"
queue = { kind = "dualpi2" }
`;

// Under CI these must run: there they fail where they cannot.
describe.skipIf(why !== undefined && !process.env.CI)("an emulated link", () => {
  test("the stream follows a Wi-Fi trace", () => unlessStill(wifi));
  test("behind HTB the stream keeps its class beside a download", () => unlessStill(htb));
  test("behind DualPI2 the stream plays beside a download", () => unlessStill(dualpi2));
});

async function wifi(): Promise<void> {
  const { stream, frameDelay, longestGap } = await play("wifi", WIFI, false);
  expect(stream?.mbps ?? 0).toBeGreaterThan(3);
  // The queue holds 200 ms.
  expect(frameDelay).toBeLessThan(150);
  // The trace has an outage of 1.9 s, in which nothing can come; then frames must.
  expect(longestGap).toBeLessThan(OUTAGE + 500);
}

async function htb(): Promise<void> {
  const { stream, download, frameDelay, queues } = await play("htb", HTB, true);
  // Guaranteed 15 Mbit/s, of which the controller leaves some.
  expect(stream?.mbps ?? 0).toBeGreaterThan(7);
  expect(frameDelay).toBeLessThan(100);
  expect(download?.mbps ?? 0).toBeGreaterThan(10);
  // The download fills its own queue, not the stream's.
  expect(download?.queue_ms?.p50 ?? 0).toBeGreaterThan(10);
  expect(stream?.queue_ms?.p50 ?? 0).toBeLessThan(10);
  expect(queues.find(({ name }) => name === "game")?.passed).toBeGreaterThan(1_000);
}

async function dualpi2(): Promise<void> {
  const { stream, download, frameDelay } = await play("dualpi2", DUALPI2, true);
  // Both are classic: the queue is held at 15 ms, whoever fills it.
  expect(download?.queue_ms?.p50 ?? 0).toBeGreaterThan(2);
  expect(download?.queue_ms?.p95 ?? 100).toBeLessThan(50);
  expect(stream?.mbps ?? 0).toBeGreaterThan(0.5);
  expect(download?.mbps ?? 0).toBeGreaterThan(5);
  expect(frameDelay).toBeLessThan(150);
}

/** Plays across a network; with `loaded`, beside a download by iperf3. */
async function play(name: string, network: string, loaded: boolean) {
  const link = new Link(`link-${name}`, network);
  const host = await startHost({
    name: `link-${name}`,
    place: link.sender,
    // So fine that the scene takes all it is granted.
    args: ["--bind", SENDER_ADDRESS, "--token", TOKEN, "--finest-quantiser", "10"],
  });
  const browser = await startBrowser({ place: link.receiver });
  const page = await browser.play(host.play);
  await follow(page);
  await watchFrames(page, 30);
  if (loaded) {
    await startDownload(link);
  }
  const begin = performance.now();
  await stay(page);
  const pictures = (await seen(page)).filter(({ presented }) => presented > begin - WATCHED);
  const gaps = pictures.map(({ presented }, index, all) => {
    return presented - (all[index - 1]?.presented ?? presented);
  });
  await page.close();
  await host.stop();
  const { late_us, queues } = link.status();
  link.down();
  const recording = host.recordings()[0];
  const { links, frame_delay_ms, bitrate_mbps } = report(recording, link.log);
  drawReport(recording, link.log, outFile(`link-${name}.html`));
  const [joined] = links;
  const stream = joined?.traffic.flows.find(({ is_stream }) => is_stream);
  const download = largest(joined?.traffic.flows.filter(({ is_stream }) => !is_stream) ?? []);
  writeFigures(`link-${name}`, { bitrate_mbps, frame_delay_ms, late_us, queues, link: joined });
  const text = (flow: Flow | undefined) =>
    `${(flow?.mbps ?? 0).toFixed(1)} Mbit/s, waits p50 ${flow?.queue_ms?.p50.toFixed(1)} ms`;
  const delay = frame_delay_ms?.p95 ?? Number.POSITIVE_INFINITY;
  console.log(`${name}: stream ${text(stream)}, frame delay p95 ${delay.toFixed(1)} ms`);
  if (loaded) {
    console.log(`${name}: download ${text(download)}`);
  }
  expect(joined?.missing ?? 1).toBeLessThan((joined?.packets ?? 0) * 0.01);
  return { stream, download, frameDelay: delay, longestGap: Math.max(...gaps), queues };
}

type Flow = Joined["traffic"]["flows"][number];

function largest(flows: Flow[]): Flow | undefined {
  return flows.sort((one, other) => (other.mbps ?? 0) - (one.mbps ?? 0))[0];
}

/** A download by the kernel's CUBIC, which lasts as long as the test. */
async function startDownload(link: Link): Promise<void> {
  const start = (place: Place, ...words: string[]) => {
    const [program = "", ...rest] = at(place, ["iperf3", ...words]);
    const child = spawn(program, rest, { stdio: ["ignore", "ignore", "inherit"] });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
  };
  start(link.receiver, "-s");
  await sleep(500);
  const seconds = String(2 * (WATCHED / 1_000));
  start(link.sender, "-c", "100.64.0.2", "-C", "cubic", "-t", seconds);
}

/** Watches, and sees it play throughout. */
async function stay(page: Page): Promise<void> {
  const end = performance.now() + WATCHED;
  while (performance.now() < end) {
    await sleep(500);
    expect((await look(page)).state).toBe("playing");
  }
}
