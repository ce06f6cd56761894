// What the player does is in the next pictures.

import { loadavg } from "node:os";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, press, reach, startBrowser } from "./support/browser";
import { startHost } from "./support/host";
import { writeFigures } from "./support/out";
import { follow, keysDown, newest, seen, since } from "./support/probe";
import { sleep, until } from "./support/wait";

const PRESSES = 40;
/** Time in which an action too many would show. */
const SETTLE = 500;

test("each key press is in the next pictures, once", async () => {
  const page = await playing("input-keys");
  const start = await count(page);
  const before = (await keysDown(page)).length;
  for (let done = 0; done < PRESSES; done += 1) {
    // Anywhere between two frames, and longer than a round trip.
    await sleep(80 + 120 * Math.random());
    await page.keyboard.press(done % 2 === 0 ? "KeyD" : "KeyA", { delay: 30 * Math.random() });
  }
  await counted(page, start, 2 * PRESSES);

  const downs = (await keysDown(page)).slice(before);
  expect(downs).toHaveLength(PRESSES);
  const frames = (await seen(page)).filter(({ actions }) => actions !== null);
  const times = downs.map((down, index) => {
    const wanted = 2 * index + 1;
    const first = frames.find(
      ({ actions, presented }) => presented > down && since(start, actions ?? 0) >= wanted,
    );
    // A frame before it that already had it would have answered before the question.
    const early = frames.findLast(({ presented }) => presented <= down);
    expect(since(start, early?.actions ?? start)).toBeLessThan(wanted);
    expect(first).toBeDefined();
    return { presented: (first?.presented ?? 0) - down, expected: (first?.expected ?? 0) - down };
  });
  const { statistics } = await look(page);
  const figures = {
    presses: PRESSES,
    load: loadavg()[0],
    stages: statistics?.stages,
    presented_ms: spread(times.map(({ presented }) => presented)),
    expected_ms: spread(times.map(({ expected }) => expected)),
    each_presented_ms: times.map(({ presented }) => Math.round(presented * 10) / 10),
  };
  writeFigures("input-to-photon", figures);
  const { p50, p90 } = figures.presented_ms;
  console.log(`input to photon: p50 ${p50} ms, p90 ${p90} ms (${PRESSES} presses)`);
});

test("buttons, movement and the wheel count as what they are", async () => {
  const page = await playing("input-mouse");
  await page.mouse.move(640, 360);
  await sleep(SETTLE);
  const start = await count(page);
  await page.mouse.down();
  await page.mouse.up();
  await counted(page, start, 2);
  await page.mouse.down({ button: "right" });
  await page.mouse.up({ button: "right" });
  await counted(page, start, 4);
  await page.mouse.wheel(0, 120);
  await counted(page, start, 5);
  await page.mouse.move(700, 380);
  await counted(page, start, 6);
});

test("a page that loses the focus lets go of every key", async () => {
  const page = await playing("input-release");
  const start = await count(page);
  await page.keyboard.down("KeyD");
  await counted(page, start, 1);
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  // The page has forgotten the key, so that this says nothing to the host.
  await page.keyboard.up("KeyD");
  await counted(page, start, 1);
  // A host that still had the key down would not count this.
  await page.keyboard.press("KeyD");
  await counted(page, start, 3);
});

test("Ctrl+Alt+Shift+Z gives the keys back and takes them", async () => {
  const page = await playing("input-back");
  const start = await count(page);
  await page.keyboard.press("Control+Alt+Shift+KeyZ");
  await until("the page has the keys", async () => !(await taken(page)));
  // Down before the page had the keys: Control, Alt and Shift.
  await counted(page, start, 3);
  await page.keyboard.press("KeyD");
  await counted(page, start, 3);
  await page.keyboard.press("Control+Alt+Shift+KeyZ");
  await until("the game has the keys", () => taken(page));
  for (const key of ["KeyD", "ControlLeft", "AltLeft", "ShiftLeft"]) {
    await page.keyboard.press(key);
  }
  await counted(page, start, 11);
});

/** A page that plays and has the keys, with the marker read. */
async function playing(name: string): Promise<Page> {
  const host = await startHost({ name });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  await press(page, "play");
  await reach(page, "playing");
  await until("the game has the keys", () => taken(page));
  await follow(page);
  // Taking the controls moves the pointer.
  await sleep(SETTLE);
  await until("the marker is read", () => newest(page));
  return page;
}

function taken(page: Page): Promise<boolean> {
  return page.evaluate(() => window.mimosa.taken);
}

async function count(page: Page): Promise<number> {
  return (await newest(page))?.actions ?? Number.NaN;
}

/** So many actions since `start`, no fewer and no more. */
async function counted(page: Page, start: number, actions: number): Promise<void> {
  let now = 0;
  await until(`${actions} actions are in the picture`, async () => {
    now = since(start, await count(page));
    return now >= actions;
  });
  await sleep(SETTLE);
  expect(since(start, await count(page))).toBe(actions);
}

function spread(values: number[]): Record<"p50" | "p90" | "max", number> {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
    return Math.round(value * 10) / 10;
  };
  return { p50: at(0.5), p90: at(0.9), max: at(1) };
}
