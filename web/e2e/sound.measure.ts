// Sound across a link that loses packets: `npm run measure:sound` (docs/sound.md).
//
// SECONDS (600) with a share LOSS (0.01) of packets lost at random, both ways, at RATE (20 Mbit/s)
// and 10 ms each way; FLAGS are further ones of `serve`. The page is taken for a secure one, as
// it is with HTTPS, and plays the sound itself; with PLAYER=browser it is not. out/e2e has the
// figures under NAME, the recording of the session and its page, with the skew over time.

import { expect, test } from "vitest";
import type { ClientSound } from "../src/session/messages";
import { look, startBrowser } from "./support/browser";
import { startHost } from "./support/host";
import { Link, SENDER_ADDRESS } from "./support/link";
import { outFile, writeFigures } from "./support/out";
import { drawReport, report } from "./support/report";
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
  const rows: (ClientSound & { readonly at: number })[] = [];
  const begun = performance.now();
  while (performance.now() - begun < 1_000 * SECONDS) {
    await sleep(1_000);
    const sound = (await look(page)).client?.sound;
    if (sound) {
      rows.push({ at: Math.round(performance.now() - begun) / 1_000, ...sound });
    }
  }
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
    video_loss: statistics?.loss,
    redundancy: statistics?.sound?.redundancy,
    bitrate: statistics?.sound?.bitrate,
    recorded: report(host.recordings()[0]).sound,
  };
  writeFigures(`sound-loss-${NAME}`, { ...figures, rows });
  drawReport(host.recordings()[0], link.log, outFile(`sound-loss-${NAME}.html`));
  console.log(JSON.stringify(figures, null, 2));
  expect(reconnects).toBe(0);
});
