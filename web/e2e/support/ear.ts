// Hears what the page plays.

import type { Page } from "playwright-core";
import { until } from "./wait";

declare global {
  interface Window {
    analyser: AnalyserNode;
    /** The loudest that each part of the spectrum has been, in decibels. */
    loudest: Float32Array<ArrayBuffer>;
  }
}

/** Listens to what the page plays, itself or by an element, and to a loudspeaker that comes later:
 * on a busy machine the page takes another (`Loudspeaker.isTooFast`). */
export async function hear(page: Page): Promise<void> {
  await until("there is sound", () =>
    page.evaluate(() => {
      const source = document.querySelector("audio")?.srcObject ?? null;
      return window.probe.outputs.length > 0 || source !== null;
    }),
  );
  await page.evaluate(async () => {
    const listen = (context: BaseAudioContext, source: AudioNode) => {
      const analyser = context.createAnalyser();
      analyser.fftSize = 4096;
      analyser.smoothingTimeConstant = 0;
      source.connect(analyser);
      window.analyser = analyser;
    };
    const stream = document.querySelector("audio")?.srcObject ?? null;
    let heard: AudioNode | undefined;
    const follow = () => {
      const newest = window.probe.outputs.at(-1);
      if (newest && newest !== heard) {
        heard = newest;
        listen(newest.context, newest);
      }
    };
    if (stream) {
      const context = new AudioContext();
      await context.resume();
      listen(context, context.createMediaStreamSource(stream as MediaStream));
    } else {
      follow();
    }
    const { frequencyBinCount } = window.analyser;
    window.loudest = new Float32Array(frequencyBinCount).fill(-200);
    const now = new Float32Array(frequencyBinCount);
    setInterval(() => {
      if (!stream) {
        follow();
      }
      window.analyser.getFloatFrequencyData(now);
      for (const [index, value] of now.entries()) {
        window.loudest[index] = Math.max(window.loudest[index] ?? -200, value);
      }
    }, 20);
  });
}

/** How loud a frequency has been, in decibels of full scale. */
export function level(page: Page, hertz: number): Promise<number> {
  return page.evaluate((hertz) => {
    const { context, fftSize } = window.analyser;
    const bin = Math.round((hertz * fftSize) / context.sampleRate);
    return Math.max(...window.loudest.slice(bin - 1, bin + 2));
  }, hertz);
}

/** How loud the loudest frequency has been. */
export function loudest(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(...window.loudest));
}

/** Forgets what has been heard. */
export function forget(page: Page): Promise<void> {
  return page.evaluate(() => {
    window.loudest.fill(-200);
  });
}
