// Two controllers on real traffic, in turn: `make compare` (docs/results/comparison.md).
//
// A (pudica) and B (mimosa): a controller's name, and further flags of `serve` after it.
// PAIRS (5) of runs on each of NETWORKS (constant,steps,trace), of which SECONDS (18)
// count. TRACE, from TRACE_FROM seconds on, is what the trace is (of this project's, a
// part without outages). FRAMES_PER_SECOND (60), QUANTISER (1). With LOADED=1 a loop keeps each
// processor busy beside. With PUBLISH the page and its results are written; out/e2e has them in
// any case. MIMOSA names the program, which should be the one that `make play` builds.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { basename, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { look, press, reach, startBrowser } from "./support/browser";
import { BINARY, startHost } from "./support/host";
import { Link, SENDER_ADDRESS, type Way } from "./support/link";
import { outFile, ROOT } from "./support/out";
import { type Measure, marked, type Run, type Side, table } from "./support/pairs";
import { Rates } from "./support/rates";
import { report } from "./support/report";
import { sleep } from "./support/wait";

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const text = (name: string, fallback: string) => process.env[name] || fallback;
const SIDES: Record<Side, string> = { A: text("A", "pudica"), B: text("B", "mimosa") };
const PAIRS = number("PAIRS", 5);
const SECONDS = number("SECONDS", 18);
const FRAMES_PER_SECOND = number("FRAMES_PER_SECOND", 60);
const QUANTISER = number("QUANTISER", 1);
const TRACE = resolve(ROOT, text("TRACE", "traces/wifi.txt"));
const TRACE_FROM = number("TRACE_FROM", process.env.TRACE ? 0 : 17.5);
/** Whether each processor has something else to do as well. */
const LOADED = Boolean(process.env.LOADED);
/** How the page calls this measurement, and what its results are called. */
const [COMMAND, NAME] = LOADED
  ? ["make compare LOADED=1", "comparison-loaded"]
  : ["make compare", "comparison"];
const TOKEN = "comparison-comparison";

/** Seconds of the link at which the page is told to play: by then it is there. */
const PLAY = 2.5;
/** The first seconds do not count. */
const FROM = PLAY + 5;
const TO = FROM + SECONDS;
const ROUND_TRIP = 20;
/** As it is when a link is late, in microseconds (docs/use/emulation.md). */
const LATE = 1_000;

const NETWORKS: Record<string, { title: string; rates: () => Rates }> = {
  constant: { title: "20 Mbit/s", rates: () => new Rates([{ at: 0, mbps: 20 }]) },
  steps: {
    title: "30, 10, 30 Mbit/s",
    rates: () =>
      new Rates([
        { at: 0, mbps: 30 },
        { at: FROM + SECONDS / 3, mbps: 10 },
        { at: FROM + (2 * SECONDS) / 3, mbps: 30 },
      ]),
  },
  trace: {
    title: `${basename(TRACE)} from ${TRACE_FROM} s on`,
    rates: () => {
      const rows = ["trace", "convert", TRACE, "-", "--format", "rows"];
      return Rates.ofTrace(execFileSync(BINARY, rows, { encoding: "utf8" }), TRACE_FROM);
    },
  },
};
const CHOSEN = text("NETWORKS", Object.keys(NETWORKS).join(",")).split(",");

const MEASURES: readonly Measure[] = [
  { key: "used_percent", label: "link used, %", decimals: 1 },
  { key: "bitrate_mbps", label: "bitrate, Mbit/s", decimals: 2 },
  { key: "target_mbps", label: "target, Mbit/s", decimals: 2 },
  { key: "frame_delay_p50_ms", label: "frame delay p50 less RTT, ms", decimals: 1 },
  { key: "frame_delay_p95_ms", label: "frame delay p95 less RTT, ms", decimals: 1 },
  { key: "frame_delay_p99_ms", label: "frame delay p99 less RTT, ms", decimals: 1 },
  { key: "above_50_percent", label: "frames above RTT + 30 ms, %", decimals: 2 },
  { key: "above_100_percent", label: "frames above 100 ms, %", decimals: 2 },
  { key: "queue_p50_ms", label: "queue of the link p50, ms", decimals: 2 },
  { key: "queue_p95_ms", label: "queue of the link p95, ms", decimals: 2 },
  { key: "queue_p99_ms", label: "queue of the link p99, ms", decimals: 2 },
  { key: "dropped", label: "packets dropped", decimals: 0 },
  { key: "shown_per_second", label: "pictures shown a second", decimals: 1 },
  { key: "longest_gap_ms", label: "longest gap between two, ms", decimals: 0 },
  { key: "to_screen_p50_ms", label: "capture to screen p50, ms", decimals: 1 },
  { key: "to_screen_p95_ms", label: "capture to screen p95, ms", decimals: 1 },
  { key: "encode_p50_ms", label: "encoding p50, ms", decimals: 1 },
  { key: "quantiser", label: "quantiser, mean", decimals: 1 },
  { key: "late_p999_us", label: "link late p99.9, us", decimals: 0 },
  { key: "processors_percent", label: "processors busy, %", decimals: 0 },
];

const runs: (Run & { readonly controller: object })[] = [];

const plan = CHOSEN.flatMap((network) =>
  Array.from({ length: PAIRS }, (_, index) => {
    const order: Side[] = index % 2 === 0 ? ["A", "B"] : ["B", "A"];
    return order.map((side) => ({ network, pair: index + 1, side, controller: SIDES[side] }));
  }).flat(),
);

describe("two controllers in turn", () => {
  let loops: ChildProcess[] = [];
  beforeAll(() => {
    loops = LOADED ? cpus().map(() => spawn("sh", ["-c", "while :; do :; done"])) : [];
  });

  test.each(plan)("$network, pair $pair, $side: $controller", async ({ network, pair, side }) => {
    const run = await play(network, `compare-${network}-${pair}-${side}`, SIDES[side]);
    runs.push({ network, pair, side, ...run });
    const { used_percent, bitrate_mbps, frame_delay_p95_ms } = run.figures;
    console.log(
      `${SIDES[side]}: ${used_percent?.toFixed(1)} %, ${bitrate_mbps?.toFixed(1)} Mbit/s, ` +
        `frame delay p95 ${frame_delay_p95_ms?.toFixed(1)} ms + RTT ${run.marks.join("; ")}`,
    );
  });

  afterAll(() => {
    for (const loop of loops) {
      loop.kill();
    }
    publish();
  });
});

/** Plays once, and says what came of it. */
async function play(network: string, name: string, controller: string) {
  const rates = NETWORKS[network]?.rates();
  if (!rates) {
    throw new Error(`there is no network ${network}: ${Object.keys(NETWORKS).join(", ")}`);
  }
  const trace = outFile(`compare-${network}.trace`);
  writeFileSync(trace, rates.asTrace());
  // Round trip and queue of the scoreboard.
  const queue = 'one_way_delay = "10ms"\nqueue = { kind = "droptail", limit = "500kB" }\n';
  const link = new Link(name, `[link]\n${rates.asKey(trace)}\n${queue}`);
  const begun = Date.now() - 1_000 * link.stand().seconds;
  const until = (seconds: number) => sleep(Math.max(0, begun + 1_000 * seconds - Date.now()));
  const picture = [
    ["--frames-per-second", String(FRAMES_PER_SECOND)],
    // So fine that the scene takes all it is granted.
    ["--finest-quantiser", String(QUANTISER)],
  ].flat();
  const host = await startHost({
    relieves: true,
    name,
    place: link.sender,
    args: [
      ...["--bind", SENDER_ADDRESS, "--token", TOKEN, ...picture],
      ...["--controller", ...controller.split(" ")],
    ],
  });
  const browser = await startBrowser({ place: link.receiver });
  const page = await browser.open(host.play);
  const ready = (Date.now() - begun) / 1_000;
  await until(PLAY);
  await press(page, "play");
  await reach(page, "playing");
  await note(page);
  await until(FROM);
  const before = processors();
  await until(TO);
  const after = processors();
  const { state, reconnects } = await look(page);
  const { ways } = link.stand();
  // The last frames are on their way yet.
  await until(TO + 0.5);
  const shown = await page.evaluate(() => window.presented);
  await page.context().close();
  await host.stop();
  link.down();

  const broken = state !== "playing" || reconnects > 0;
  expect(broken && !LOADED, `${state} after ${reconnects} reconnects`).toBe(false);
  const recording = host.recordings()[0];
  const whole = report(recording, link.log);
  const [joined] = whole.links;
  const linkBegun = (joined?.link.begun_unix_ns ?? Number.NaN) / 1e6;
  const hostBegun = whole.session.begun_unix_ns / 1e6;
  const of = (seconds: number) => `${Math.round(1e3 * (linkBegun + 1e3 * seconds - hostBegun))}us`;
  const span = ["--from", of(FROM), "--to", of(TO)];
  const part = report(recording, link.log, [...span, "--above", "50ms", "--above", "100ms"]);
  const pictures = shown.filter((at) => at >= linkBegun + 1e3 * FROM && at < linkBegun + 1e3 * TO);
  const figures: Record<string, number> = {
    ...summary(part, rates),
    ...displayed(pictures),
    late_p999_us: Math.max(...ways.map(({ late_us }) => late_us?.p999 ?? 0)),
    late_max_us: Math.max(...ways.map(({ late_us }) => late_us?.max ?? 0)),
    ready_s: ready,
    processors_percent: (100 * (after.busy - before.busy)) / (after.all - before.all),
  };
  const beliefs = part.links[0]?.beliefs;
  return {
    figures,
    marks: [
      ...(broken
        ? [`${state} at the end, after ${reconnects} reconnects; figures of the first session`]
        : []),
      ...marks(ways, ready),
    ],
    controller: { causes: part.causes, busy_share: part.utilization, beliefs },
  };
}

/** What recordings of session and link say. */
function summary(part: ReturnType<typeof report>, rates: Rates): Record<string, number> {
  const traffic = part.links[0]?.traffic;
  const stream = traffic?.flows.find(({ is_stream }) => is_stream);
  const seconds = traffic?.seconds ?? Number.NaN;
  const above = (ms: number) =>
    100 * (part.above?.find((above) => above.ms === ms)?.share ?? Number.NaN);
  const { frame_delay_ms: delay, to_screen_ms: screen, encoder } = part;
  const figures = {
    used_percent: (100 * (stream?.mbps ?? 0) * seconds) / rates.carried(FROM, FROM + seconds),
    carried_mbps: rates.carried(FROM, FROM + seconds) / seconds,
    link_busy_percent: 100 * (traffic?.busy ?? Number.NaN),
    bitrate_mbps: part.bitrate_mbps,
    target_mbps: part.target_mbps,
    budget_use_percent: 100 * (part.budget_use?.mean ?? Number.NaN),
    frame_delay_p50_ms: (delay?.p50 ?? Number.NaN) - ROUND_TRIP,
    frame_delay_p95_ms: (delay?.p95 ?? Number.NaN) - ROUND_TRIP,
    frame_delay_p99_ms: (delay?.p99 ?? Number.NaN) - ROUND_TRIP,
    above_50_percent: above(ROUND_TRIP + 30),
    above_100_percent: above(100),
    queue_p50_ms: stream?.queue_ms?.p50,
    queue_p95_ms: stream?.queue_ms?.p95,
    queue_p99_ms: stream?.queue_ms?.p99,
    dropped: stream?.dropped,
    lost: part.lost,
    given_up: part.given_up,
    encoded_per_second: part.frames / part.seconds,
    to_screen_p50_ms: screen?.p50,
    to_screen_p95_ms: screen?.p95,
    encode_p50_ms: encoder?.time_ms.p50,
    encode_p99_ms: encoder?.time_ms.p99,
    quantiser: encoder?.quantiser,
  };
  const known = Object.entries(figures).map(([key, value]) => [key, value ?? Number.NaN] as const);
  return Object.fromEntries(known);
}

/** How evenly pictures came to the screen, by the page's own clock. */
function displayed(pictures: readonly number[]): Record<string, number> {
  const gaps = pictures.slice(1).map((at, index) => at - (pictures[index] ?? at));
  return { shown_per_second: pictures.length / SECONDS, longest_gap_ms: Math.max(0, ...gaps) };
}

/** What makes a run's figures doubtful: no run is left out for it. */
function marks(ways: readonly Way[], ready: number): string[] {
  const late = ways.flatMap(({ late_us }, index) => {
    const way = index === 0 ? "there" : "back";
    const p999 = late_us?.p999 ?? 0;
    return p999 > LATE ? [`the link was late on the way ${way}, p99.9 ${p999.toFixed(0)} us`] : [];
  });
  const unwritten = ways.reduce((sum, way) => sum + way.unwritten, 0);
  return [
    ...late,
    ...(unwritten > 0 ? [`${unwritten} packets vanished`] : []),
    ...(ready > PLAY ? [`began ${(ready - PLAY).toFixed(1)} s late`] : []),
  ];
}

declare global {
  interface Window {
    /** When pictures were handed to the compositor, in milliseconds since 1970. */
    presented: number[];
  }
}

/** Notes when pictures are shown: less work than the probe's. */
function note(page: Page): Promise<void> {
  return page.evaluate(() => {
    window.presented = [];
    const video = document.querySelector("video");
    const next = () => {
      video?.requestVideoFrameCallback((_now, { presentationTime }) => {
        next();
        window.presented.push(performance.timeOrigin + presentationTime);
      });
    };
    next();
  });
}

/** Time of all processors since the machine's start, in clock ticks: proc(5), /proc/stat. */
function processors(): { busy: number; all: number } {
  const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = first
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + soft + steal;
  return { busy, all: busy + idle + wait };
}

/** Writes the tables and all runs. */
function publish(): void {
  const tables = CHOSEN.map((network) => {
    const own = runs.filter((run) => run.network === network);
    const title = NETWORKS[network]?.title ?? network;
    return `${table(title, SIDES, own, MEASURES)}\n${marked(SIDES, own)}`;
  });
  const [{ model = "" } = {}, ...others] = cpus();
  const about =
    `A is \`${SIDES.A}\`, B is \`${SIDES.B}\`; ${PAIRS} pairs, of each run ${SECONDS} s; 1280x720 at ` +
    `${FRAMES_PER_SECOND} frames a second, \`--finest-quantiser ${QUANTISER}\`; ${others.length + 1} cores, ${model}` +
    `${LOADED ? ", each with a busy loop beside" : ""}. Every run: [${NAME}.json](${NAME}.json).`;
  const region = `\n${[about, ...tables]
    .join("\n\n")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd()}\n`;
  const trace = { TRACE: basename(TRACE), TRACE_FROM };
  const video = { FRAMES_PER_SECOND, QUANTISER };
  const settings = { ...SIDES, PAIRS, SECONDS, NETWORKS: CHOSEN, LOADED, ...trace, ...video };
  const results = `${JSON.stringify({ settings, processor: model, runs }, null, 1)}\n`;
  writeFileSync(outFile(`${NAME}.json`), results);
  writeFileSync(outFile(`${NAME}.md`), region);
  console.log(region);
  if (process.env.PUBLISH) {
    const page = `${ROOT}docs/results/comparison.md`;
    const old = readFileSync(page, "utf8");
    const put = old.replace(
      new RegExp(`(<!-- measured: ${COMMAND} -->\n)[\\s\\S]*?(<!-- end -->)`),
      (_all, begin, end) => `${begin}${region}\n${end}`,
    );
    writeFileSync(page, put);
    writeFileSync(`${ROOT}docs/results/${NAME}.json`, results);
  }
}
