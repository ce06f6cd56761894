// The owner's dialog: settings, another device, who is here; and that nobody else gets there.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { look, press, reach, screenshot, startBrowser, watchFrames } from "./support/browser";
import { startHost } from "./support/host";
import { until } from "./support/wait";

test("the owner changes a setting, shows a PIN and ends a session", async () => {
  const host = await startHost({
    name: "owner",
    guarded: true,
    terminal: true,
    args: ["--bind", "0.0.0.0", "--announce", "off", "--frames-per-second", "30"],
  });
  const browser = await startBrowser();
  const watching = await browser.open(host.watch);
  await watchFrames(watching, 10);
  const page = await browser.open(host.own);
  await until("the page knows its owner", () => page.locator("#owner-open").isVisible());
  await page.click("#owner-open");
  const dialog = page.locator("#owner");

  // Who is here.
  const sessions = dialog.locator(".owner-sessions div");
  await until("the viewer is listed", async () => (await sessions.count()) === 1);
  expect(await sessions.innerText()).toMatch(/Viewer\s+watches from \S+:\d+ for/);

  // Another device.
  await until("a PIN is shown", async () => {
    const shown = /\b\d{6}\b/.exec(await dialog.locator(".owner-invite").innerText())?.[0];
    return shown && host.printed.includes(shown);
  });
  // With an address that others reach, there is a code for them, which has the player's token.
  const others = host.plays.filter((url) => !url.includes("localhost"));
  expect(await dialog.locator(".owner-code").count()).toBe(others.length > 0 ? 1 : 0);
  await screenshot(page, "owner");

  // Settings.
  const file = join(host.state, "mimosa.toml");
  const field = dialog.locator("select[name=detail]");
  await field.selectOption("full");
  await until("the file has it", () => /^detail = "full"$/m.test(readFileSync(file, "utf8")));
  await until("the page says when", async () =>
    (await dialog.locator(".owner-note").innerText()).includes("next start"),
  );
  const viewers = dialog.locator("input[name=viewers]");
  await viewers.fill("many");
  await viewers.press("Tab");
  await until("a wrong value is refused with what to write", async () =>
    (await dialog.locator(".owner-note").innerText()).includes("a whole number from 0 to 100"),
  );
  expect(readFileSync(file, "utf8")).not.toMatch(/^viewers/m);
  await until("the value is what it was", async () => (await viewers.inputValue()) === "4");
  expect(await dialog.locator("input[name=frames_per_second]").isDisabled()).toBe(true);
  // Enter asks the host as well, and the refusal is seen where the field is.
  await viewers.fill("200");
  await viewers.press("Enter");
  await until("it is refused", async () =>
    (await dialog.locator(".owner-note").innerText()).includes("200"),
  );
  expect(await dialog.evaluate((found) => (found as HTMLDialogElement).open)).toBe(true);
  expect(await focus(page)).toBe("viewers");
  await viewers.press("Enter");
  await viewers.fill("3");
  await viewers.press("Enter");
  await until("the file has it", () => /^viewers = 3$/m.test(readFileSync(file, "utf8")));
  // The host's answers leave the keyboard where it is.
  await sessions.locator("button").focus();
  const before = await sessions.innerText();
  await until("the host has answered", async () => (await sessions.innerText()) !== before);
  expect(await focus(page)).toBe("End");
  await field.focus();
  await field.selectOption("adaptive");
  await until("the file has it", () => /^detail = "adaptive"$/m.test(readFileSync(file, "utf8")));
  expect(await focus(page)).toBe("detail");
  const note = await dialog.locator(".owner-note").boundingBox();
  const size = page.viewportSize();
  expect(note && size && note.y > 0 && note.y + note.height < size.height).toBe(true);
  await screenshot(page, "owner-settings");

  // Ending a session.
  await sessions.locator("button").press("Enter");
  await until("the viewer is told", async () => (await look(watching)).state === "ended");
  await until("nobody is here", async () => (await sessions.count()) === 0);
  expect(await focus(page)).toBe("This host");
  expect(host.log).not.toMatch(/ERROR|panicked/);

  // Whoever plays is not the owner.
  const player = await browser.open(host.play);
  await until("the page is there", () =>
    player.locator("#card-actions button").first().isVisible(),
  );
  expect(await player.locator("#owner-open").isVisible()).toBe(false);
});

// A service has no terminal, and its log is no place for a PIN.
test("the owner of a host without a terminal shows a PIN, and a device pairs by it", async () => {
  const host = await startHost({ name: "owner-pin", guarded: true });
  const browser = await startBrowser();
  const device = await browser.open(new URL("/", host.play).href);
  await until("the page asks for the PIN", () => device.locator("#pin-form").isVisible());
  await until("the page says whom to ask", () =>
    device.getByText("its owner shows one").first().isVisible(),
  );
  await screenshot(device, "owner-pin-asked");
  const page = await browser.open(host.own);
  await until("the page knows its owner", () => page.locator("#owner-open").isVisible());
  await page.click("#owner-open");
  const invite = page.locator("#owner .owner-invite");
  await invite.getByRole("button", { name: "Show a PIN" }).click();
  const shown = async () => /\b\d{6}\b/.exec(await invite.innerText())?.[0];
  const pin = await until("a PIN is shown", shown);
  await device.fill("#pin", pin);
  await device.click("#pin-form button");
  await until("it is taken", async () => (await look(device)).error === null);
  await press(device, "play");
  await reach(device, "playing");
  expect(host.printed + host.log).not.toContain(pin);
});

/** The name or the text of what has the focus. */
function focus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const active = document.activeElement;
    return active?.getAttribute("name") ?? active?.textContent ?? "";
  });
}
