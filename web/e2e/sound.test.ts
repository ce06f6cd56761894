// The page is heard: the demo's tones in a real browser.

import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { look, screenshot, startBrowser, watchFrames } from "./support/browser";
import { forget, hear, level, loudest } from "./support/ear";
import { SMALL, startHost } from "./support/host";
import { outFile, writeFigures } from "./support/out";
import { report } from "./support/report";
import { sleep, until } from "./support/wait";

/** In milliseconds: three of the page's messages at least. */
const QUIET = 5_000;
/** Of the demo's pulse, once a second. */
const PULSE_HERTZ = 1_000;
/** Of its answer to a press. */
const ACTION_HERTZ = 660;

test("the demo is heard without a gap, and how far it is from the picture is known", async () => {
  const host = await startHost({ name: "sound", args: SMALL });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await hear(page);
  await until("the pulse is heard", async () => (await level(page, PULSE_HERTZ)) > -60);
  // What listens may begin within a pulse, and on a busy machine the browser cuts one: a cut is heard at all
  // frequencies. A whole pulse counts that comes later.
  await until("nobody has pressed anything", async () => {
    await forget(page);
    await sleep(1_500);
    return (await level(page, ACTION_HERTZ)) < -70;
  });
  await page.keyboard.press("Space");
  await until("the answer to a key is heard", async () => {
    return (await level(page, ACTION_HERTZ)) > -60;
  });

  // How far it is, a busy machine decides: it delays sound, and the browser then waits
  // longer for it. The figure is recorded and not judged.
  await until("the skew is known", async () => {
    return typeof (await look(page)).client?.sound?.skew === "number";
  });
  const { first, last } = await until("nothing is made up for five seconds", async () => {
    const first = (await look(page)).client?.sound;
    await sleep(QUIET);
    const last = (await look(page)).client?.sound;
    return first && last && last.concealed === first.concealed && { first, last };
  });
  const { statistics } = await look(page);
  writeFigures("sound", { first, last, sent: statistics?.sound });
  console.log(`sound: ${JSON.stringify(last)} ${JSON.stringify(statistics?.sound)}`);
  expect((last.samples ?? 0) - (first.samples ?? 0)).toBeGreaterThan(48_000);

  const mute = page.locator("#mute");
  await page.keyboard.press("Control+Alt+Shift+KeyZ");
  await mute.click();
  await until("it is silent", async () => {
    await forget(page);
    await sleep(1_500);
    return (await loudest(page)) < -90;
  });
  await screenshot(page, "sound-muted");
  await mute.click();
  await until("the pulse is heard again", async () => (await level(page, PULSE_HERTZ)) > -60);

  await page.close();
  await host.stop();
  expect(report(host.recordings()[0]).sound?.skew_ms.p50).toBeDefined();
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a browser that cannot hand the sound over plays it itself", async () => {
  const host = await startHost({ name: "sound-browser", args: SMALL });
  // It has no way at all, or one that turns out not to work.
  for (const lacks of ["transform", "worklet"]) {
    const browser = await startBrowser();
    await browser.context.addInitScript((lacks) => {
      if (lacks === "transform") {
        Reflect.deleteProperty(window, "RTCRtpScriptTransform");
      } else {
        AudioWorklet.prototype.addModule = () => Promise.reject(new Error("not today"));
      }
    }, lacks);
    const page = await browser.play(host.play);
    await until("the element has it", () =>
      page.evaluate(() => document.querySelector("audio")?.srcObject !== null),
    );
    await hear(page);
    await until("the pulse is heard", async () => (await level(page, PULSE_HERTZ)) > -60);
    await page.keyboard.press("Control+Alt+Shift+KeyZ");
    await page.locator("#mute").click();
    expect(await page.evaluate(() => document.querySelector("audio")?.muted)).toBe(true);
    await page.locator("#mute").click();
    expect(await page.evaluate(() => document.querySelector("audio")?.muted)).toBe(false);
    await page.close();
  }
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a loudspeaker that runs out gets more at a time", async () => {
  const host = await startHost({ name: "sound-loudspeaker", args: SMALL });
  const browser = await startBrowser();
  await browser.context.addInitScript(() => {
    let underrunEvents = 0;
    const stats = () => {
      underrunEvents += 1;
      return { underrunEvents, underrunDuration: 0 };
    };
    Object.defineProperty(AudioContext.prototype, "playbackStats", { get: stats });
  });
  const page = await browser.play(host.play);
  const states = () =>
    page.evaluate(() => window.probe.outputs.map(({ context }) => (context as AudioContext).state));
  await hear(page);
  await until("there is another", async () => (await states()).length === 2);
  expect((await states())[0]).toBe("closed");
  await forget(page);
  await until("the pulse is heard", async () => (await level(page, PULSE_HERTZ)) > -60);
  const least = await page.evaluate(() =>
    window.probe.outputs.map(({ context }) => (context as AudioContext).baseLatency),
  );
  expect(least[1]).toBeGreaterThan(least[0] ?? Number.NaN);
  // It stays with that.
  await sleep(12_000);
  expect(await states()).toHaveLength(2);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("without sound there is the picture, and nothing to mute", async () => {
  const host = await startHost({ name: "silent", args: ["--sound", "off", ...SMALL] });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, 30);
  const { client, statistics } = await look(page);
  expect(statistics?.sound ?? null).toBeNull();
  expect(client?.sound ?? null).toBeNull();
  expect(await page.locator("#mute").isVisible()).toBe(false);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("what a launched game plays is heard", async () => {
  // No window: what is heard needs none.
  const tone = outFile("sound-game.raw");
  writeFileSync(tone, sine(880, 60));
  const game = `pacat --raw --rate=48000 --channels=2 <'${tone}' & sleep 300`;
  const host = await startHost({
    name: "sound-game",
    args: ["--launch", game, ...SMALL],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await hear(page);
  await until("the game is heard", async () => (await level(page, 880)) > -50);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

/** A sine in samples of 16 bits, both channels alike. */
function sine(hertz: number, seconds: number): Int16Array {
  const turn = (2 * Math.PI * hertz) / 48_000;
  return Int16Array.from({ length: 96_000 * seconds }, (_, place) =>
    Math.round(12_000 * Math.sin(turn * (place >> 1))),
  );
}
