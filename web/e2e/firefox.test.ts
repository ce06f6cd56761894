// The page in Debian's Firefox, which decodes AV1, and H.264 only with a plugin.

import { describe, expect, test } from "vitest";
import { inbound, look, press, reach, watchFrames } from "./support/browser";
import { startFirefox } from "./support/firefox";
import { startHost, troubles } from "./support/host";
import { Link, noLink, SENDER_ADDRESS } from "./support/link";
import { writeFigures } from "./support/out";
import { fingerprint, follow, newest, since, type Tab } from "./support/probe";
import { until } from "./support/wait";

const why = noLink();
const TOKEN = "firefox-firefox-firefox";
const AV1 = ["--size", "640x360", "--encoder", "svt-av1"];
const H264 = ["--size", "640x360", "--encoder", "x264"];

const LINK = `
[link]
rate = "20Mbit/s"
one_way_delay = "2ms"
queue = { kind = "droptail", limit = "200ms" }
`;

describe.skipIf(why !== undefined && !process.env.CI)("an emulated link", () => {
  test("Firefox plays AV1 and reports each frame", async () => {
    const link = new Link("firefox", LINK);
    const host = await startHost({
      name: "firefox",
      place: link.sender,
      args: ["--bind", SENDER_ADDRESS, "--token", TOKEN, ...AV1],
    });
    const page = await startFirefox(link.receiver);
    await page.open(host.play);
    await press(page, "play");
    await reach(page, "playing");
    // The first session is the only one: Firefox took the answer.
    expect(host.log.match(/begun session=.*/g)).toEqual([
      expect.stringMatching(/role="player" feedback="twcc-02" .*codec="AV1"/),
    ]);
    await follow(page);
    await watchFrames(page, 20);
    const picture = await fingerprint(page);
    const marked = await until("a picture has the marker", () => newest(page));

    // A frame ends with a report; version 01 would bring a third of that. A machine that stumbles
    // brings frames together, so one stretch of them has to do.
    const [before, after] = await until("a stretch of frames with a report each", async () => {
      const before = await state(page);
      await watchFrames(page, 90);
      const after = await state(page);
      const isEach = after.reports - before.reports > 0.8 * (after.decoded - before.decoded);
      return isEach && ([before, after] as const);
    });
    const later = await fingerprint(page);
    const pictures = since(marked.pictures ?? 0, (await newest(page))?.pictures ?? 0);
    await page.screenshot("firefox");
    type Count = "decoded" | "shown" | "reports" | "acknowledged" | "samples" | "time";
    const grown = (key: Count) => after[key] - before[key];
    const figures = {
      seconds: grown("time") / 1_000,
      shown: grown("shown"),
      decoded: grown("decoded"),
      reports: grown("reports"),
      acknowledged: grown("acknowledged"),
      samples: grown("samples"),
      delay: after.delay,
    };
    writeFigures("firefox", figures);
    console.log(JSON.stringify(figures));

    expect(after).toMatchObject({ state: "playing", codec: "video/AV1", feedback: "twcc-02" });
    expect(grown("decoded")).toBeGreaterThan(60);
    expect(grown("shown")).toBeGreaterThan(60);
    expect(grown("reports")).toBeLessThan(3 * grown("decoded"));
    expect(grown("acknowledged")).toBeGreaterThan(0.7 * grown("decoded"));
    expect(grown("acknowledged")).toBeLessThan(1.5 * grown("decoded"));
    // Sound has 48 samples in a millisecond, and is counted once in a second.
    expect(grown("samples")).toBeGreaterThan(48 * (grown("time") - 1_250));
    expect(grown("samples")).toBeLessThan(48 * (grown("time") + 1_250));
    // The pictures are the demo's, in their order.
    expect(picture.colours).toBeGreaterThan(100);
    expect(later.hash).not.toBe(picture.hash);
    expect(pictures).toBeGreaterThan(45);
    expect(pictures).toBeLessThan(6_000);
    expect(host.log.match(/begun session=/g)).toHaveLength(1);
    expect(troubles(host.log)).toEqual([]);
  });
});

test("Firefox says why it does not play", async () => {
  const page = await startFirefox();
  const failure = async (url: string) => {
    await page.open(url);
    await press(page, "play");
    return (await reach(page, "failed")).error;
  };
  const h264 = await startHost({ name: "firefox-h264", args: H264 });
  const codec = await failure(h264.play);
  await page.screenshot("firefox-no-codec");
  expect(codec?.code).toBe("no-codec");
  expect(codec?.message).toContain("OpenH264 plugin");
  expect(h264.log).not.toContain("begun session");
  await h264.stop();

  // On this machine it would play but for the address.
  const loopback = await startHost({ name: "firefox-loopback", args: AV1 });
  const udp = await failure(loopback.play);
  await page.screenshot("firefox-no-udp");
  expect(udp?.code).toBe("no-udp");
  expect(udp?.message).toContain("--bind 0.0.0.0");
  expect(loopback.log).toMatch(/begun session=.* codec="AV1"/);
  expect(loopback.log).not.toContain("connected session");
});

async function state(page: Tab) {
  const { state, shown, statistics, client } = await look(page);
  const stream = await inbound(page);
  return {
    state,
    shown,
    time: await page.evaluate(() => performance.now()),
    feedback: statistics?.feedback,
    reports: statistics?.reports ?? 0,
    acknowledged: statistics?.frames?.acknowledged ?? 0,
    delay: statistics?.delay,
    samples: client?.sound?.samples ?? 0,
    codec: stream.mimeType,
    decoded: Number(stream.framesDecoded ?? 0),
  };
}
