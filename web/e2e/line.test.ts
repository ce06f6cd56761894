// The page tests its line before anybody plays, and plays afterwards.

import { expect, test } from "vitest";
import { press, reach, startBrowser } from "./support/browser";
import { startHost } from "./support/host";
import { until } from "./support/wait";

test("the page says what its line is like, and then plays", async () => {
  const host = await startHost({ name: "line" });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  await press(page, "test-line");
  const words = await until("the line is tested", async () => {
    const title = await page.locator("#card-title").innerText();
    return title === "Your line" && page.locator("#card-text").innerText();
  });
  // On one machine, the line carries more than the test sends.
  expect(words).toMatch(/^The line carries (at least )?\d+ Mbit\/s: enough for 1080p/);
  await press(page, "play");
  await reach(page, "playing");
  expect(host.log).toMatch(/the line is tested/);
  expect(host.log).not.toMatch(/ERROR|panicked/);
  expect(browser.complaints).toEqual([]);
});
