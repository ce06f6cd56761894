// Sound across a link that loses packets: `npm run measure:sound` (docs/how-it-works/sound.md).
//
// SECONDS (600) with a share LOSS (0.01) of packets lost at random, both ways, at RATE (20 Mbit/s)
// and 10 ms each way; FLAGS are further ones of `serve`. The page is taken for a secure one, as
// it is with HTTPS, and plays the sound itself; with PLAYER=browser it is not. Stops of the machine
// itself are watched for. out/e2e has the figures under NAME, the recording of the session and its
// page, with the skew over time.

import { expect, test } from "vitest";
import type { ClientSound } from "../src/session/messages";
import { look, startBrowser } from "./support/browser";
import { startHost } from "./support/host";
import { Link, SENDER_ADDRESS } from "./support/link";
import { outFile, writeFigures } from "./support/out";
import { drawReport, report } from "./support/report";
import { type Stop, watchStops } from "./support/stops";
import { sleep } from "./support/wait";

const SECONDS = Number(process.env.SECONDS ?? 600);
const LOSS = Number(process.env.LOSS ?? 0.01);
const RATE = process.env.RATE ?? "20Mbit/s";
const FLAGS = (process.env.FLAGS ?? "").split(" ").filter((word) => word);
const PLAYER = process.env.PLAYER ?? "page";
const NAME = process.env.NAME ?? PLAYER;
const TOKEN = "sound-measure-sound";
/** The jitter buffer settles in, and the page asks for the clocks. */
const SETTLE = 5_000;
/** What the page says is not older: it asks ten times a second, and this asks once. In seconds. */
const OLD = 0.5;

interface Row extends ClientSound {
  /** Seconds since the first. */
  readonly at: number;
}

/** In how many looks something was heard that should not be, and in how many of these no core had
 * stood still since the look before. `begun` is in seconds since 1970. */
function heard(rows: readonly Row[], stops: readonly Stop[], begun: number) {
  const sum = ({ concealed, stretched, gaps }: Row) =>
    (concealed ?? 0) + (stretched ?? 0) + (gaps ?? 0);
  const looks = rows.flatMap((row, index) => {
    const before = rows[index - 1];
    return before && sum(row) > sum(before) ? [{ from: before.at - OLD, to: row.at }] : [];
  });
  const own = looks.filter(
    ({ from, to }) => !stops.some(([ended]) => ended - begun > from && ended - begun < to),
  );
  return { heard: looks.length, heard_without_a_stop: own.length };
}

test(`sound for ${SECONDS} s with a loss of ${LOSS}`, async () => {
  const path = `one_way_delay = "10ms"\nqueue = { kind = "droptail", limit = "500kB" }\n`;
  const network = `[link]\nrate = "${RATE}"\n${path}loss = ${LOSS}\nreturn_loss = ${LOSS}\n`;
  const link = new Link("sound-loss", network);
  const host = await startHost({
    name: "sound-loss",
    place: link.sender,
    args: ["--bind", SENDER_ADDRESS, "--token", TOKEN, ...FLAGS],
  });
  const trusts = PLAYER === "page" ? { trusts: new URL(host.play).origin } : {};
  const browser = await startBrowser({ place: link.receiver, ...trusts });
  const page = await browser.play(host.play);
  await sleep(SETTLE);
  const first = (await look(page)).client?.sound;
  const rows: Row[] = [];
  const stopped = watchStops();
  const since1970 = Date.now() / 1_000;
  const begun = performance.now();
  while (performance.now() - begun < 1_000 * SECONDS) {
    await sleep(1_000);
    const sound = (await look(page)).client?.sound;
    if (sound) {
      rows.push({ at: Math.round(performance.now() - begun) / 1_000, ...sound });
    }
  }
  const stops = await stopped();
  const { statistics, reconnects } = await look(page);
  await page.context().close();
  await host.stop();
  link.down();
  const last = rows.at(-1);
  const since = (name: "packets_lost" | "samples" | "concealed" | "gaps" | "stretched") =>
    (last?.[name] ?? Number.NaN) - (first?.[name] ?? Number.NaN);
  const skews = rows.flatMap(({ skew }) => (skew === null ? [] : [Math.abs(skew)]));
  const figures = {
    seconds: SECONDS,
    loss: LOSS,
    rate: RATE,
    flags: FLAGS,
    player: PLAYER,
    packets_lost: since("packets_lost"),
    gaps: since("gaps"),
    made_up_ms: since("concealed") / 48,
    stretched_ms: since("stretched") / 48,
    made_up_percent: (100 * since("concealed")) / since("samples"),
    furthest_skew_ms: Math.max(...skews),
    ...heard(rows, stops, since1970),
    stops: stops.length,
    longest_stop_ms: 1_000 * Math.max(0, ...stops.map(([, seconds]) => seconds)),
    video_loss: statistics?.loss,
    redundancy: statistics?.sound?.redundancy,
    bitrate: statistics?.sound?.bitrate,
    recorded: report(host.recordings()[0]).sound,
  };
  writeFigures(`sound-loss-${NAME}`, {
    ...figures,
    rows,
    stopped: stops.map(([ended, lasted]) => [ended - since1970, lasted]),
  });
  drawReport(host.recordings()[0], link.log, outFile(`sound-loss-${NAME}.html`));
  console.log(JSON.stringify(figures, null, 2));
  expect(reconnects).toBe(0);
});
