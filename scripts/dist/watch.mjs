// Opens a host's page in Chromium, plays, and prints how many milliseconds passed from the start of
// the browser to the first picture.
//
//   node scripts/dist/watch.mjs URL

import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const begun = performance.now();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(process.argv[2]);
  await page.click("#card-actions button[data-action=play]");
  await page.waitForFunction(() => {
    const video = document.querySelector("video");
    return video !== null && video.getVideoPlaybackQuality().totalVideoFrames > 0;
  });
  console.log(Math.round(performance.now() - begun));
} finally {
  await browser.close();
}
