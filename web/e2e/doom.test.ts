// A real game does what the player does: its pictures and its sound say so.

import { accessSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, screenshot, startBrowser } from "./support/browser";
import { forget, hear, loudest } from "./support/ear";
import { difference, type Grid, grid, rest } from "./support/grid";
import { type Host, startHost } from "./support/host";
import { writeFigures } from "./support/out";
import { report } from "./support/report";
import { sleep, until } from "./support/wait";

// At the first level's start, where without monsters nothing moves or sounds by itself.
const GAME =
  "dsda-doom -iwad freedoom1.wad -geom 640x360w -vidmode sw -nomusic -warp 1 1 -nomonsters " +
  "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0";
/** Pictures at rest differ by less than 1; the menu and another place by far more. */
const ANOTHER = 5;
const SAME = 2;

test("keys move the player, and open and close the menu", async () => {
  const { page, host } = await playing("doom-keys");
  const start = await rest(page);
  await screenshot(page, "doom-start");
  await hold(page, "KeyW", 700);
  const ahead = await rest(page);
  await screenshot(page, "doom-ahead");
  const walked = difference(start, ahead);
  await page.keyboard.press("Escape", { delay: 60 });
  const menu = await apart(page, ahead);
  await screenshot(page, "doom-menu");
  await page.keyboard.press("Escape", { delay: 60 });
  await until("the menu is closed", async () => difference(ahead, await grid(page)) < SAME);
  await hold(page, "KeyE", 300);
  const turned = difference(ahead, await rest(page));
  await page.close();
  expect(await host.stop()).toBe(0);
  // How long it takes, a busy machine decides.
  const latency = report(host.recordings()[0]).action_to_screen_ms;
  const figures = { walked, menu, turned, latency };
  writeFigures("doom-keys", figures);
  console.log(`pictures differ by ${JSON.stringify(figures)}`);
  expect(walked, "another place").toBeGreaterThan(ANOTHER);
  expect(turned, "another direction").toBeGreaterThan(ANOTHER);
  expect(latency?.p50).toBeGreaterThan(0);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a gamepad moves the player, opens the menu and fires, which is heard", async () => {
  const { page, host } = await playing("doom-gamepad");
  const start = await rest(page);
  await plug(page);
  await until("the page has told of the gamepad", async () => {
    return page.evaluate(() => (window.probe.sent[2] ?? 0) > 0);
  });
  await move(page, { axes: [0, -1, 0, 0] });
  await sleep(700);
  await move(page, {});
  const ahead = await rest(page);
  const walked = difference(start, ahead);
  await screenshot(page, "doom-gamepad-ahead");
  const menuButton = [9];
  await press(page, menuButton);
  const menu = await apart(page, ahead);
  await screenshot(page, "doom-gamepad-menu");
  await press(page, menuButton);
  await until("the menu is closed", async () => difference(ahead, await grid(page)) < SAME);

  await hear(page);
  await until("it is quiet", async () => {
    await forget(page);
    await sleep(1_000);
    return (await loudest(page)) < -70;
  });
  const quiet = await loudest(page);
  await press(page, [7]);
  await until("the shot is heard", async () => (await loudest(page)) > -50);
  const figures = { walked, menu, quiet, shot: await loudest(page) };
  writeFigures("doom-gamepad", figures);
  console.log(`pictures differ, and sound in dB: ${JSON.stringify(figures)}`);
  expect(walked, "another place").toBeGreaterThan(ANOTHER);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

/** A page that plays the game, which has drawn its level. */
async function playing(name: string): Promise<{ page: Page; host: Host }> {
  accessSync("/usr/games/dsda-doom");
  const args = ["--launch", GAME, "--size", "640x360", "--gamepads", "keys"];
  const host = await startHost({ name, args });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await until("the game has the keys", async () => (await look(page)).taken);
  await until("the game has drawn its level", async () => {
    return (await grid(page)).reduce((sum, value) => sum + value, 0) > 0;
  });
  return { page, host };
}

async function hold(page: Page, key: string, time: number): Promise<void> {
  await page.keyboard.down(key);
  await sleep(time);
  await page.keyboard.up(key);
}

/** Waits for another picture; by how much it differs. */
function apart(page: Page, before: Grid): Promise<number> {
  return until("another picture", async () => {
    const apart = difference(before, await grid(page));
    return apart > ANOTHER && apart;
  });
}

interface State {
  readonly buttons?: readonly number[];
  readonly axes?: readonly number[];
}

/** Gives the page a gamepad: a browser without a window has none. */
async function plug(page: Page): Promise<void> {
  await move(page, {});
  await page.evaluate(() => window.dispatchEvent(new Event("gamepadconnected")));
}

/** What the gamepad is from now on. */
function move(page: Page, { buttons = [], axes = [0, 0, 0, 0] }: State): Promise<void> {
  return page.evaluate(
    ({ pressed, axes }) => {
      const buttons = Array.from({ length: 17 }, (_, index) => {
        const is = pressed.includes(index);
        return { pressed: is, touched: is, value: is ? 1 : 0 };
      });
      const gamepad = { index: 0, connected: true, mapping: "standard", buttons, axes };
      navigator.getGamepads = () => [gamepad as unknown as Gamepad];
    },
    { pressed: buttons, axes },
  );
}

async function press(page: Page, buttons: readonly number[]): Promise<void> {
  await move(page, { buttons });
  await sleep(100);
  await move(page, {});
}
