// A session keeps the encoder's pictures, and what the browser showed is measured by them.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBrowser, watchFrames } from "./support/browser";
import { BINARY, startHost } from "./support/host";
import { outFile } from "./support/out";

const KEPT = 60;

interface Figures {
  readonly frames: number;
  readonly summary: Record<string, { readonly mean: number; readonly least: number }>;
  readonly per_frame: readonly { readonly frame: number }[];
}

test("a recording with pictures says how good they were on the screen", async () => {
  const kept = outFile("quality.pictures");
  rmSync(kept, { recursive: true, force: true });
  const args = ["--record-pictures", kept, "--record-pictures-limit", `${KEPT}`];
  const host = await startHost({ name: "quality", args: [...args, "--size", "640x360"] });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, 2 * KEPT);
  await page.close();
  await host.stop();
  expect(host.log).toMatch(/the limit of pictures is reached/);
  expect(host.log).not.toMatch(/ERROR|panicked/);

  const sessions = readdirSync(kept);
  expect(sessions).toHaveLength(1);
  const folder = join(kept, sessions[0] ?? "");
  const json = outFile("quality.json");
  const printed = execFileSync(BINARY, ["quality", "--recording", folder, "--json", json], {
    encoding: "utf8",
  });
  expect(printed).toMatch(/^60 frames, of which \d+ have no picture: \d+ were shown/m);
  const { measured } = JSON.parse(readFileSync(json, "utf8")) as {
    measured: Record<string, Figures>;
  };
  const coded = measured["the stream as coded"];
  const seen = measured["the screen with repeats"];
  if (!coded || !seen) {
    throw new Error(`figures are missing: ${Object.keys(measured)}`);
  }
  // A slow disk may cost some.
  expect(coded.frames).toBeGreaterThan(KEPT / 2);
  expect(seen.frames).toBeGreaterThan(KEPT / 4);
  expect(coded.summary.psnr_y?.mean).toBeGreaterThan(25);
  expect(coded.summary.ssim_y?.mean).toBeGreaterThan(0.8);
  // The screen is never ahead of the stream.
  const both = new Set(seen.per_frame.map(({ frame }) => frame));
  expect(coded.per_frame.filter(({ frame }) => both.has(frame))).toHaveLength(seen.frames);
  expect(seen.summary.psnr_y?.mean).toBeGreaterThan(10);
});
