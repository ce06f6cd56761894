// Reports of RFC 8888 from a Chromium that has them, and one that only says so.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { inbound, look, press, reach, startBrowser, TRIAL, watchFrames } from "./support/browser";
import { SMALL, startHost } from "./support/host";
import { Link, noLink, SENDER_ADDRESS } from "./support/link";
import { ROOT, writeFigures } from "./support/out";
import { messages } from "./support/probe";
import { until } from "./support/wait";

const why = noLink();
const TOKEN = "reports-reports-reports";
/** Kind of the message that a frame is decoded: docs/embed/protocol.md. */
const DECODED = 33;

test("a browser that reports otherwise than it offered gets what it can", async () => {
  const host = await startHost({ name: "reports-munged", args: SMALL });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  const asked: string[] = [];
  // Something on the way has put the reports into the offer.
  await page.route("**/whep?*", async (route) => {
    const request = route.request();
    asked.push(new URL(request.url()).searchParams.get("feedback") ?? "");
    const offer = (request.postData() ?? "").split(/(?=^m=)/m);
    const munged = offer.map((section) =>
      /^m=(audio|video) /.test(section)
        ? section.replace(/^(a=mid:.*)$/m, "$1\na=rtcp-fb:* ack ccfb")
        : section,
    );
    await route.continue({ postData: munged.join("") });
  });
  await press(page, "play");
  await reach(page, "playing");
  await until("the page has come back with the next best", async () => {
    const { state, statistics } = await look(page);
    return state === "playing" && statistics?.feedback === "twcc-02";
  });
  await watchFrames(page, 60);
  expect(asked).toEqual(["rfc8888", "twcc-02"]);
  const { statistics, reconnects } = await look(page);
  expect(statistics?.frames?.acknowledged ?? 0).toBeGreaterThan(30);
  expect(reconnects).toBeLessThanOrEqual(1);
  // The host waits for a second, not less.
  const begun = logged(host.log, /feedback="rfc8888"/);
  const over = logged(host.log, /does not report arrivals as asked fallback="twcc-02"/);
  expect(over - begun).toBeGreaterThan(1_000);
  expect(host.log.match(/does not report arrivals/g)).toHaveLength(1);
});

test("the guide has the argument that the page's help names", () => {
  expect(TRIAL).toMatch(/^--force-fieldtrials=WebRTC-RFC8888/);
  const guide = readFileSync(`${ROOT}docs/use/host.md`, "utf8");
  expect(guide.match(/--force-fieldtrials=[^"\n]+/g)).toEqual([TRIAL, TRIAL]);
});

describe.skipIf(why !== undefined && !process.env.CI)("an emulated link", () => {
  test("Chromium reports each frame, with the ECN field", async () => {
    const { page, host } = await play("reports", [], {
      rate: "100Mbit/s",
      one_way_delay: "1ms",
      queue: '{ kind = "droptail", limit = "500kB" }',
    });
    expect((await look(page)).statistics?.feedback).toBe("rfc8888");
    expect(host.log).toContain('role="player" feedback="rfc8888"');
    const answer = await page.evaluate(() => window.mimosa.pc?.remoteDescription?.sdp ?? "");
    expect(answer).toMatch(/^a=rtcp-fb:\S+ ack ccfb\s*$/m);
    expect(answer).not.toMatch(/transport-(wide-)?cc/);

    // A frame of 60 in a second ends with a report; the browser's own pace is 37 of them. A machine
    // that stumbles brings frames together, so one stretch of them has to do.
    const share = await until("a stretch of frames with a report each", async () => {
      const before = await state(page);
      await watchFrames(page, 120);
      const after = await state(page);
      const share = (after.reports - before.reports) / (after.decoded - before.decoded);
      return share > 0.8 && share;
    });
    expect(share).toBeLessThan(2.5);
    const counted = await counts(page);
    // Ten packets are sent to try the path; every other one follows them if their field came back.
    expect(counted.ect1).toBeGreaterThan(0.5 * counted.received);
    expect(counted.ect1).toBeLessThanOrEqual(counted.received);
    // A lost report leaves it to the page to say which frames it has.
    expect(await messages(page, DECODED)).toBeGreaterThan(60);
    const { statistics } = await look(page);
    // A frame leaves within its interval of 17 ms; the rest is room for a machine that stumbles.
    expect(statistics?.delay?.p50 ?? 0).toBeGreaterThan(0.1);
    expect(statistics?.delay?.p50 ?? 1_000).toBeLessThan(500);
    const { acknowledged = 0, encoded = 0 } = statistics?.frames ?? {};
    expect(acknowledged ?? 0).toBeGreaterThan(0.8 * (encoded ?? 0));
    writeFigures("reports", { share, ...counted, delay_ms: statistics?.delay });
    expect(host.log).not.toMatch(/ERROR|panicked|does not report/);
  });

  test("a packet whose report is lost is not sent again", async () => {
    const { page, link, host } = await play("reports-lost", [], {
      rate: "20Mbit/s",
      one_way_delay: "5ms",
      queue: '{ kind = "droptail", limit = "500kB" }',
      return_loss: "0.05",
    });
    await watchFrames(page, 120);
    const before = await state(page);
    await watchFrames(page, 600);
    const after = await state(page);
    await page.close();
    await host.stop();
    const { ways } = link.stand();
    const resent = after.resent - before.resent;
    const lost = after.packetsLost - before.packetsLost;
    const asked = after.nacks - before.nacks;
    const stalls = after.stalls - before.stalls;
    writeFigures("reports-lost", { resent, lost, asked, stalls, before, after, ways });
    console.log(`resent ${resent}, lost ${lost}, asked for ${asked}, stalls ${stalls}`);
    expect(after.feedback).toBe("rfc8888");
    expect(ways[1].lost, "on the way back").toBeGreaterThan(20);
    expect(after.reports - before.reports).toBeGreaterThan(200);
    // Only what the browser lacks, which a request of its own names.
    expect(resent).toBeLessThanOrEqual(lost + asked);
    expect(after.loss).toBeLessThanOrEqual(lost > 0 ? 0.05 : 0.002);
    // Frames whose report is lost end when the page has decoded them.
    expect(after.acknowledged - before.acknowledged).toBeGreaterThan(500);
    expect(stalls).toBeLessThan(60);
  });

  test("the marks of a queue come to the controller", async () => {
    const { page, link, host } = await play("reports-marks", ["--controller", "prague"], {
      rate: "4Mbit/s",
      one_way_delay: "5ms",
      queue: '{ kind = "dualpi2" }',
    });
    await until("the controller answers a mark", async () => {
      const { statistics } = await look(page);
      return statistics?.cause === "marked";
    });
    await watchFrames(page, 300);
    const { ce, ect1, received } = await counts(page);
    await page.close();
    await host.stop();
    const marked = link.status().queues.reduce((sum, queue) => sum + queue.marked, 0);
    writeFigures("reports-marks", { ce, ect1, received, marked });
    expect(ce).toBeGreaterThan(10);
    // Each mark that the page counts is one of the queue's.
    expect(ce).toBeLessThanOrEqual(marked);
    expect(ect1).toBeGreaterThan(0.5 * received);
  });
});

/** Plays across a link, in a browser that reports. */
async function play(name: string, args: string[], network: Record<string, string>) {
  const quoted = (text: string) => (/^[{\d.]+$|^\{/.test(text) ? text : `"${text}"`);
  const lines = Object.entries(network).map(([key, value]) => `${key} = ${quoted(value)}`);
  const link = new Link(name, `[link]\n${lines.join("\n")}\n`);
  const host = await startHost({
    name,
    place: link.sender,
    args: ["--bind", SENDER_ADDRESS, "--token", TOKEN, ...SMALL, ...args],
  });
  const browser = await startBrowser({ place: link.receiver, reports: true });
  const page = await browser.play(host.play);
  await watchFrames(page, 60);
  return { link, host, page };
}

/** What the browser counts of the picture. */
async function counts(page: Page) {
  const stream = await inbound(page);
  const count = (key: string) => Number(stream[key] ?? 0);
  return {
    decoded: count("framesDecoded"),
    received: count("packetsReceived"),
    ect1: count("packetsReceivedWithEct1"),
    ce: count("packetsReceivedWithCe"),
    packetsLost: count("packetsLost"),
    nacks: count("nackCount"),
  };
}

/** The same, and what the host has told. */
async function state(page: Page) {
  const { statistics } = await look(page);
  return {
    ...(await counts(page)),
    feedback: statistics?.feedback,
    reports: statistics?.reports ?? 0,
    resent: statistics?.retransmissions ?? 0,
    loss: statistics?.loss ?? 0,
    stalls: statistics?.stalls ?? 0,
    acknowledged: statistics?.frames?.acknowledged ?? 0,
  };
}

/** When the host logged the first line of this form, in milliseconds. */
function logged(log: string, form: RegExp): number {
  const line = log.split("\n").find((line) => form.test(line));
  return Date.parse(line?.trim().split(/\s+/)[0] ?? "");
}
