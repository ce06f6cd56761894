// A real game in a private X server: Freedoom, as `make play` can run it.

import { accessSync } from "node:fs";
import { expect, test } from "vitest";
import {
  family,
  look,
  press,
  reach,
  screenshot,
  startBrowser,
  watchFrames,
} from "./support/browser";
import { change, grid } from "./support/grid";
import { startHost } from "./support/host";
import { until } from "./support/wait";

// The line of crates/platform/x11, in a smaller picture, at the first level's start and
// without monsters.
const GAME =
  "dsda-doom -iwad freedoom1.wad -geom 640x360w -vidmode sw -warp 1 1 -nomonsters " +
  "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0";

test("a game in a private X server is played, and ends with the host", async () => {
  accessSync("/usr/games/dsda-doom");
  const host = await startHost({ name: "x11", args: ["--launch", GAME, "--size", "640x360"] });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  await press(page, "play");
  await reach(page, "playing");
  await until("the game has the keys", async () => (await look(page)).taken);
  await until("the game has drawn its level", async () => {
    return (await grid(page)).reduce((sum, value) => sum + value, 0) > 0;
  });
  // The screen melts into the level, and nothing moves there by itself.
  await until("the picture is at rest", async () => (await change(page)) < 1);
  await screenshot(page, "x11-before");
  const resting = await change(page);
  await page.keyboard.down("KeyD");
  const moving = await change(page);
  await page.keyboard.up("KeyD");
  await until("the picture is at rest again", async () => (await change(page)) < 1);
  await screenshot(page, "x11-after");
  console.log(
    `the picture's change: ${resting.toFixed(1)} at rest, ${moving.toFixed(1)} with a key`,
  );
  expect(moving, "a key moves the player").toBeGreaterThan(5);
  // Still, but not frozen.
  await watchFrames(page, 10);

  expect((await look(page)).statistics?.frames?.shown ?? 0).toBeGreaterThan(30);
  const processes = family(host.pid);
  // The host, the X server, the shell or the game.
  expect(processes.length).toBeGreaterThanOrEqual(3);
  await page.close();
  expect(await host.stop()).toBe(0);
  await until("everything that it launched is gone", () => !processes.some(lives));
});

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
