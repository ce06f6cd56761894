// Text reaches a program: composed, and by the clipboard.

import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, startBrowser } from "./support/browser";
import { startHost } from "./support/host";
import { outFile, ROOT } from "./support/out";
import { sleep, until } from "./support/wait";

test("what the browser composes is written, between the keys around it", async () => {
  const file = outFile("text-read.txt");
  const host = await startHost({
    name: "text",
    args: [
      "--launch",
      `LC_ALL=C.UTF-8 exec xev -event keyboard >'${file}'`,
      "--size",
      "640x360",
      "--sound",
      "off",
    ],
  });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  await page.evaluate(() => {
    localStorage.setItem("mimosa.settings", JSON.stringify({ typeText: true }));
  });
  await page.reload();
  await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
  await page.locator("#card-actions button[data-action=play]").click();
  await taken(page);
  await until("the program has the keys", () =>
    /FocusIn|KeymapNotify/.test(readFileSync(file, "utf8")),
  );
  const browserSide = await page.context().newCDPSession(page);
  await page.keyboard.press("a");
  // An input method: what it shows is not sent, what it ends with is.
  await browserSide.send("Input.imeSetComposition", {
    text: "e",
    selectionStart: 1,
    selectionEnd: 1,
  });
  await sleep(200);
  await browserSide.send("Input.insertText", { text: "é" });
  await page.keyboard.press("b");
  // A screen keyboard tells no key.
  await page.keyboard.insertText("😀ñ");
  const read = () =>
    readFileSync(file, "utf8")
      .split("KeyPress event")
      .slice(1)
      .flatMap(
        (press) => /XmbLookupString gives \d+ bytes: \([^)]*\) "([^"]*)"/.exec(press)?.[1] ?? [],
      );
  await until("everything is read", () => read().length >= 5);
  await sleep(500);
  expect(read()).toEqual(["a", "é", "b", "😀", "ñ"]);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("text is copied both ways, where the host allows it", async () => {
  const file = outFile("clipboard-pasted.txt");
  rmSync(file, { force: true });
  const program = `exec python3 ${ROOT}web/e2e/support/clipboard.py '${file}'`;
  const host = await startHost({
    name: "clipboard",
    args: ["--launch", program, "--size", "640x360", "--sound", "off", "--clipboard", "on"],
  });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  const origin = new URL(host.play).origin;
  await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  const text = "copied in the browser: é, 😀";
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.locator("#card-actions button[data-action=play]").click();
  await taken(page);
  await until("the program has pasted", () => existsSync(file));
  expect(readFileSync(file, "utf8")).toBe(text);
  await until("the browser has what the program copied", async () => {
    return (await page.evaluate(() => navigator.clipboard.readText())) === `back: ${text}`;
  });
  // Neither side's text is in the log.
  expect(host.log).not.toMatch(/ERROR|panicked|copied in the browser/);
});

test("no text leaves either side where the host does not allow it", async () => {
  const file = outFile("clipboard-kept.txt");
  rmSync(file, { force: true });
  const program = `exec python3 ${ROOT}web/e2e/support/clipboard.py '${file}'`;
  const host = await startHost({
    name: "clipboard-off",
    args: ["--launch", program, "--size", "640x360", "--sound", "off"],
  });
  const browser = await startBrowser();
  const page = await browser.open(host.play);
  const origin = new URL(host.play).origin;
  await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  await page.locator("#card-actions button[data-action=play]").click();
  await taken(page);
  // As often as it would have come several times over.
  await sleep(3_000);
  expect(existsSync(file)).toBe(false);
});

async function taken(page: Page): Promise<void> {
  await until("the game has the keys", async () => (await look(page)).taken);
}
