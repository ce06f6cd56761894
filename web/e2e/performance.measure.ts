// The figures of docs/results/performance.md about the host: `make measure`.
//
// RUNS (3) and SECONDS (20) of each, two runs more for keys; MINUTES (30) of the long
// one, 0 for none. MIMOSA names the program, which should be the one that `make play`
// builds.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { look, startBrowser } from "./support/browser";
import { BINARY, type Host, startHost } from "./support/host";
import { Link, SENDER_ADDRESS } from "./support/link";
import { writeFigures } from "./support/out";
import { at as command } from "./support/place";
import { follow, keysDown, seen, since } from "./support/probe";
import { report } from "./support/report";
import { sleep } from "./support/wait";

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const RUNS = number("RUNS", 3);
const SECONDS = number("SECONDS", 20);
const MINUTES = number("MINUTES", 30);
const PRESSES = 40;
const TEN = ["--max-bitrate", "10Mbit/s"];
const TWENTY = ["--max-bitrate", "20Mbit/s"];
const TOKEN = "performance-performance";
/** The link of the comparison (docs/results/comparison.md). */
const LINK = `[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "500kB" }
`;
const DOOM =
  "dsda-doom -iwad freedoom1.wad -geom 1280x720w -vidmode sw -nosound " +
  "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0";

test("delays of the demo at 1280x720, 60 frames a second, 10 Mbit/s", async () => {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await delays(`measure-demo-${run}`, TEN));
  }
  publish("measure-demo", runs);
});

test("delays of a game at 1280x720, 60 frames a second, 10 Mbit/s", async () => {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await delays(`measure-game-${run}`, ["--launch", DOOM, ...TEN]));
  }
  publish("measure-game", runs);
});

test.each([
  { as: "as the host comes", name: "measure-network", args: [] },
  { as: "every packet spaced", name: "measure-network-gap", args: ["--shortest-gap", "0s"] },
])("the network's share of a processor at 40 Mbit/s, $as", async ({ name, args }) => {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    // As fine as H.264 can, so that the scene takes as much.
    const fine = ["--max-bitrate", "44Mbit/s", "--finest-quantiser", "1"];
    runs.push(await delays(`${name}-${run}`, [...fine, ...args]));
  }
  publish(name, runs);
});

test.each([
  { as: "as the host comes", name: "measure-keys", args: [], across: false },
  { as: "at 10 Mbit/s", name: "measure-keys-ten", args: TEN, across: false },
  { as: "at 20 Mbit/s", name: "measure-keys-twenty", args: TWENTY, across: false },
  { as: "across a link of 20 Mbit/s", name: "measure-keys-link", args: [], across: true },
])("from a key to the screen, $as", async ({ name, args, across }) => {
  const runs = [];
  for (let run = 0; run < RUNS + 2; run += 1) {
    runs.push(await keys(`${name}-${run}`, args, across));
  }
  publish(name, runs);
});

test.each([
  { as: "at 20 Mbit/s", name: "measure-client-twenty", args: TWENTY, across: false },
  { as: "across a link of 20 Mbit/s", name: "measure-client-link", args: [], across: true },
])("from a key to the native client's picture, $as", async ({ name, args, across }) => {
  const runs = [];
  for (let run = 0; run < RUNS + 2; run += 1) {
    runs.push(await clientKeys(`${name}-${run}`, args, across));
  }
  publish(name, runs);
});

test.runIf(MINUTES > 0)("memory over a long session", async () => {
  const host = await startHost({
    name: "measure-memory",
    relieves: true,
    args: ["--frames-per-second", "30"],
  });
  const browser = await startBrowser();
  await browser.play(host.play);
  const megabytes = [];
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    megabytes.push(memory(host));
    await sleep(60_000);
  }
  publish("measure-memory", [{ after_5_min: megabytes[5] ?? 0, at_end: megabytes.at(-1) ?? 0 }]);
});

/** What a recording and the system say of one run. */
async function delays(name: string, args: readonly string[]): Promise<Record<string, number>> {
  const host = await startHost({ name, args, relieves: true });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  // The bitrate rises at first.
  await sleep(5_000);
  const before = threads(host);
  const start = performance.now();
  await sleep(SECONDS * 1_000);
  const seconds = (performance.now() - start) / 1_000;
  const after = threads(host);
  const spent = (thread: string, of: "seconds" | "turns") =>
    ((after.get(thread)?.[of] ?? 0) - (before.get(thread)?.[of] ?? 0)) / seconds;
  const share = (thread: string) => 100 * spent(thread, "seconds");
  const { statistics } = await look(page);
  await page.context().close();
  await host.stop();
  const recorded = report(host.recordings().at(-1));
  const { to_bitstream_ms, to_last_packet_ms, to_screen_ms, frame_delay_ms } = recorded;
  return {
    frames_per_second: recorded.frames / recorded.seconds,
    bitrate_mbps: recorded.bitrate_mbps ?? 0,
    target_mbps: (statistics?.target ?? 0) / 1e6,
    to_bitstream_p50_ms: to_bitstream_ms?.p50 ?? 0,
    to_bitstream_p99_ms: to_bitstream_ms?.p99 ?? 0,
    to_last_packet_p50_ms: to_last_packet_ms?.p50 ?? 0,
    to_last_packet_p99_ms: to_last_packet_ms?.p99 ?? 0,
    frame_delay_p50_ms: frame_delay_ms?.p50 ?? 0,
    to_screen_p50_ms: to_screen_ms?.p50 ?? 0,
    network_cpu_percent: share("network"),
    network_turns_per_second: spent("network", "turns"),
    encoder_cpu_percent: share("encoder"),
    source_cpu_percent: share("demo") + share("capture"),
  };
}

/** A host for `keys`, and where its player is: across a link, or on this machine. */
async function hostFor(name: string, args: readonly string[], across: boolean) {
  if (!across) {
    return { host: await startHost({ name, args, relieves: true }), place: undefined };
  }
  const link = new Link(name, LINK);
  const reachable = [...args, "--bind", SENDER_ADDRESS, "--token", TOKEN];
  const host = await startHost({ name, args: reachable, relieves: true, place: link.sender });
  return { host, place: link.receiver };
}

/** What the frames of a session went through, in milliseconds: medians of the parts. */
function parts(host: Host): Record<string, number> {
  const medians = report(host.recordings().at(-1)).stages_ms?.p50 ?? {};
  return Object.fromEntries(Object.entries(medians).map(([part, ms]) => [`${part}_p50_ms`, ms]));
}

/** Milliseconds from a key to the native client's decoded picture that shows it. */
async function clientKeys(
  name: string,
  args: readonly string[],
  across: boolean,
): Promise<Record<string, number>> {
  const { host, place } = await hostFor(name, args, across);
  const play = [BINARY, "play", host.play, "--headless", "--seconds", String(SECONDS), "--probe"];
  const [program = "", ...rest] = command(place, [...play, "--report", "-"]);
  const { input } = JSON.parse(execFileSync(program, rest, { encoding: "utf8" }));
  await host.stop();
  return { p50_ms: input.p50, p95_ms: input.p95, ...parts(host) };
}

/** Milliseconds from a key to the frame that shows it. */
async function keys(
  name: string,
  args: readonly string[],
  across: boolean,
): Promise<Record<string, number>> {
  const { host, place } = await hostFor(name, args, across);
  const browser = await startBrowser(place ? { place } : {});
  const page = await browser.play(host.play);
  await follow(page);
  await sleep(5_000);
  const start = (await seen(page)).at(-1)?.actions ?? 0;
  const before = (await keysDown(page)).length;
  for (let done = 0; done < PRESSES; done += 1) {
    await sleep(80 + 120 * Math.random());
    await page.keyboard.press(done % 2 === 0 ? "KeyD" : "KeyA", { delay: 30 });
  }
  await sleep(1_000);
  const downs = (await keysDown(page)).slice(before);
  const frames = (await seen(page)).filter(({ actions }) => actions !== null);
  // What is left running would slow the next.
  await page.context().close();
  await host.stop();
  expect(downs).toHaveLength(PRESSES);
  const times = downs.map((down, index) => {
    const wanted = 2 * index + 1;
    const first = frames.find(
      ({ actions, presented }) => presented > down && since(start, actions ?? 0) >= wanted,
    );
    return { presented: (first?.presented ?? 0) - down, expected: (first?.expected ?? 0) - down };
  });
  const at = (share: number, value: (time: { presented: number; expected: number }) => number) =>
    times.map(value).toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? 0;
  return {
    presented_p50_ms: at(0.5, ({ presented }) => presented),
    presented_p95_ms: at(0.95, ({ presented }) => presented),
    expected_p50_ms: at(0.5, ({ expected }) => expected),
    expected_p95_ms: at(0.95, ({ expected }) => expected),
    ...parts(host),
  };
}

/** Seconds on a processor and turns there of each of the host's threads, by name. */
function threads(host: Host): Map<string, { seconds: number; turns: number }> {
  const all = new Map<string, { seconds: number; turns: number }>();
  const tasks = `/proc/${host.pid}/task`;
  for (const task of readdirSync(tasks)) {
    const name = readFileSync(`${tasks}/${task}/comm`, "utf8").trim();
    // Nanoseconds on a processor, in wait for one, turns (Documentation/scheduler/sched-stats).
    const [nanos, , turns] = readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ");
    const before = all.get(name) ?? { seconds: 0, turns: 0 };
    all.set(name, {
      seconds: before.seconds + Number(nanos) / 1e9,
      turns: before.turns + Number(turns),
    });
  }
  return all;
}

/** Its resident memory in MB; zero when it has ended. */
function memory(host: Host): number {
  if (!host.running) {
    return 0;
  }
  const status = readFileSync(`/proc/${host.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_000;
}

/** Prints the medians of the runs and keeps them in out/e2e. */
function publish(name: string, runs: readonly Record<string, number>[]): void {
  const medians = Object.fromEntries(
    Object.keys(runs[0] ?? {}).map((key) => {
      const sorted = runs.map((run) => run[key] ?? 0).toSorted((a, b) => a - b);
      return [key, Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10];
    }),
  );
  writeFigures(name, { medians, runs });
  console.log(name, medians);
}
