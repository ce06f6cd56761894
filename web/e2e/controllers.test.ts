// Controllers stream to a stock browser, and their recordings say by which rules.
//
// Every controller over WebRTC, in virtual time: crates/network/world/tests/controllers.rs.

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { inbound, look, startBrowser, watchFrames } from "./support/browser";
import { BINARY, SMALL, startHost } from "./support/host";
import { ROOT } from "./support/out";
import { report } from "./support/report";
import { until } from "./support/wait";

/** Enough for what waits for a second of feedback. */
const FRAMES = 120;

/**
 * Controllers that ask for different things: reports of each packet as they come, a window that
 * acknowledgements move, and whole periods of five seconds.
 */
const CONTROLLERS = ["gcc", "scream", "c3g"] as const;

/** What the program offers when it is asked for one that does not exist. */
function offered(): string[] {
  const { stderr } = spawnSync(BINARY, ["serve", "--controller", "none-such"], {
    encoding: "utf8",
  });
  // "must be `bbr-app`, …, `scream` or `sqp`, not `none-such`"
  return [...stderr.matchAll(/`([a-z0-9-]+)`/g)]
    .map((match) => match[1] ?? "")
    .filter((name) => name !== "none-such");
}

test("a host has all controllers but the oracle", () => {
  const names = offered();
  expect(names).toEqual(expect.arrayContaining([...CONTROLLERS]));
  expect(names.length).toBeGreaterThanOrEqual(10);
  expect(names).not.toContain("oracle");
});

test.each(CONTROLLERS)("%s streams", async (name) => {
  const host = await startHost({
    name: `controller-${name}`,
    args: ["--controller", name, "--max-bitrate", "8Mbit/s", ...SMALL],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, FRAMES);
  const statistics = await until("it has decided something", async () => {
    const { statistics } = await look(page);
    const cause = statistics?.cause;
    // C3G's first period is five seconds long.
    const has = statistics?.target && statistics.rtt !== null && cause && cause !== "start";
    return has ? statistics : undefined;
  });
  expect(statistics.feedback).toBe("twcc-02");
  expect(statistics.target).toBeLessThanOrEqual(8e6);
  expect((await inbound(page)).framesDecoded).toBeGreaterThanOrEqual(FRAMES);
  await page.close();
  await host.stop();
  expect(host.log).not.toMatch(/ERROR|panicked/);

  const { causes, frames } = report(host.recordings()[0]);
  expect(frames).toBeGreaterThanOrEqual(FRAMES);
  // It has decided something, and not only begun.
  expect(causes.map(({ cause }) => cause).filter((cause) => cause !== "start")).not.toEqual([]);
});

test("a process decides, and the session outlives it", async () => {
  const script = resolve(ROOT, "crates/platform/outside/controllers/aimd.py");
  const host = await startHost({
    name: "controller-process",
    args: ["--controller", `process:python3 '${script}'`, "--max-bitrate", "8Mbit/s", ...SMALL],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await until("it has raised the bitrate", async () => {
    return ((await look(page)).statistics?.target ?? 0) > 5.5e6;
  });
  await watchFrames(page, FRAMES);
  expect(host.log).not.toMatch(/ERROR|panicked/);

  // The path stands in the command of the host too.
  expect(spawnSync("pkill", ["--full", `python[0-9.]* ${script}$`]).status).toBe(0);
  await until("the host says so", () => /the session goes on with .*mimosa/.test(host.log));
  await watchFrames(page, FRAMES);
  await page.close();
  await host.stop();
  expect(host.log).not.toContain("panicked");
  expect(report(host.recordings()[0]).frames).toBeGreaterThanOrEqual(2 * FRAMES);
});

test("frames of a stream may differ in size and in the work put in", async () => {
  const host = await startHost({
    name: "sizes",
    args: [
      ...["--controller", "gcc", "--max-bitrate", "4Mbit/s", "--finest-quantiser", "10"],
      ...["--encoder-complexity", "adaptive", "--encoder-buffer-frames", "6", ...SMALL],
    ],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, 2 * FRAMES);
  await page.close();
  await host.stop();
  expect(host.log).not.toMatch(/ERROR|panicked/);
  const { budget_use, frames } = report(host.recordings()[0]);
  expect(frames).toBeGreaterThanOrEqual(2 * FRAMES);
  // Some frames have more than their part, and all together no more than theirs.
  expect(budget_use?.max).toBeGreaterThan(1.2);
  expect(budget_use?.mean).toBeLessThan(1.05);
});
