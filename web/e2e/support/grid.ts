// The picture in few pixels, to be compared.

import type { Page } from "playwright-core";
import { sleep, until } from "./wait";

/** Levels of brightness. */
export type Grid = readonly number[];

/** The upper three quarters of the picture: without a game's status bar. */
export function grid(page: Page): Promise<Grid> {
  return page.evaluate(() => {
    const video = document.querySelector("video");
    const canvas = document.createElement("canvas");
    canvas.width = 64;
    canvas.height = 27;
    const context = canvas.getContext("2d");
    if (!video || !context) {
      throw new Error("no video or no canvas");
    }
    const { videoWidth, videoHeight } = video;
    context.drawImage(video, 0, 0, videoWidth, videoHeight * 0.75, 0, 0, 64, 27);
    const { data } = context.getImageData(0, 0, 64, 27);
    return Array.from({ length: 64 * 27 }, (_, place) => data[place * 4 + 1] ?? 0);
  });
}

/** By how many levels two pictures differ on average. */
export function difference(one: Grid, other: Grid): number {
  const changes = one.map((value, place) => Math.abs(value - (other[place] ?? 0)));
  return changes.reduce((sum, change) => sum + change, 0) / changes.length;
}

/** How much the picture changes in a second. */
export async function change(page: Page): Promise<number> {
  const before = await grid(page);
  await sleep(1_000);
  return difference(before, await grid(page));
}

/** The picture once nothing moves in it. */
export async function rest(page: Page): Promise<Grid> {
  await until("the picture is at rest", async () => (await change(page)) < 1);
  return grid(page);
}
