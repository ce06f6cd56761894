// The playground in a real browser, from a server of files: `make playground-test`.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../playground/answer";
import { startBrowser } from "./support/browser";
import { BINARY } from "./support/host";
import { outFile, ROOT, writeFigures } from "./support/out";
import { until } from "./support/wait";

const BUILT = `${ROOT}web/dist-playground`;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
/** The most that the page may load, in bytes. */
const MOST = 2_000_000;

interface Site {
  readonly url: string;
  /** Bytes of everything that was asked for, each file once. */
  loaded(): number;
}

/** Serves what was built, as any server of files does: without compression of its own. */
async function serve(): Promise<Site> {
  const sizes = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const name = path === "/" ? "/index.html" : path;
    try {
      const content = readFileSync(BUILT + name);
      sizes.set(name, content.length);
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    loaded: () => [...sizes.values()].reduce((sum, size) => sum + size, 0),
  };
}

/** What the page shows of the text that stands in it, once it has come. */
async function shown(page: Page): Promise<{ text: string; runs: readonly Run[]; speed: number }> {
  return until("the page shows its text", () =>
    page.evaluate(() => {
      const text = document.querySelector<HTMLTextAreaElement>("#toml")?.value ?? "";
      const { shown } = window.playground ?? {};
      if (!shown || shown.text !== text || document.body.dataset.state !== "ready") {
        return undefined;
      }
      const speed = (shown.answer.virtual_s * 1e3) / shown.elapsed;
      return { text, runs: shown.answer.runs, speed };
    }),
  );
}

/** What the program says of a text: a line for each variant. */
function simulated(text: string): object[] {
  const file = outFile("playground.toml");
  writeFileSync(file, text);
  const lines = execFileSync(BINARY, ["sim", file, "--json", "-"], { encoding: "utf8" });
  return lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Expects the figures of the program, to the last digit. */
function expectSame(text: string, runs: readonly Run[]): void {
  const seed = Number(text.match(/^seed = (\d+)$/m)?.[1] ?? 1);
  const found = runs.map(({ variant, figures }) => ({
    seed,
    ...(variant === null ? {} : { variant }),
    ...figures,
  }));
  expect(found, text).toStrictEqual(simulated(text));
}

async function open(page: Page, url: string): Promise<Page> {
  // Another fragment alone is no other page.
  await page.goto("about:blank");
  await page.goto(url);
  return page;
}

function picture(page: Page, id: string): Promise<string> {
  return page.evaluate(
    (id) => document.querySelector<HTMLCanvasElement>(`canvas#${id}`)?.toDataURL() ?? "",
    id,
  );
}

test("figures are those of the program, digit for digit", async () => {
  const { url } = await serve();
  const page = await (await startBrowser()).window();
  for (const fragment of [
    "",
    "seed=7&rate=6&rtt=120&buffer=500&jitter=4&loss=1.5&second=scream",
    "seed=23&tcp=cubic&second=nada&place=beside&queue=fq-codel&duration=20",
    "seed=3&hop=n&neighbours=3&second=&duration=20",
    "seed=4&hop=ax&neighbours=0&queue=pie&tcp=bbr3&duration=10",
    "seed=99&queue=dualpi2&ecn=on&controller=prague&second=scream&tcp=prague&duration=20",
    "seed=5&queue=codel&controller=sqp&second=&middle=100&tcp=reno&duration=10",
    "seed=6&queue=sfq&controller=salsify&second=copa&duration=10",
  ]) {
    await open(page, `${url}#${fragment}`);
    const { text, runs } = await shown(page);
    expectSame(text, runs);
    expect(runs).toHaveLength(/second=(&|$)|beside/.test(fragment) ? 1 : 2);
  }
});

test("every controller has the program's figures", async () => {
  const { url } = await serve();
  const page = await open(await (await startBrowser()).window(), url);
  await shown(page);
  const names = await page.$$eval("#set-controller option", (all) =>
    all.map((option) => (option as HTMLOptionElement).value),
  );
  expect(names).toContain("mimosa");
  expect(names.length).toBeGreaterThan(14);
  const link = `duration = "10s"\nseed = 11\n[link]\nrate = "12Mbit/s"\nloss = 0.002\n`;
  for (const part of [names.slice(0, 8), names.slice(8)]) {
    const variants = part.map(
      (name) => `[[variant]]\nname = "${name}"\nflow.controller = "${name}"\n`,
    );
    const text = `${link}[[flow]]\nmax_bitrate = "20Mbit/s"\n${variants.join("")}`;
    await open(page, `${url}#${new URLSearchParams({ toml: text })}`);
    const { runs } = await shown(page);
    expect(runs.map(({ variant }) => variant)).toEqual(part);
    expectSame(text, runs);
  }
});

test("a slider redraws, and the link holds what it says", async () => {
  const { url, loaded } = await serve();
  const browser = await startBrowser();
  const page = await open(await browser.window(), url);
  const before = await shown(page);
  const drawn = await picture(page, "rates");
  await page.screenshot({ path: outFile("playground.png") });
  await page.locator("#set-rate").fill("35");
  const after = await until("35 Mbit/s are shown", async () => {
    const now = await shown(page);
    return now.text !== before.text && now;
  });
  expect(after.text).toContain('rate = "35Mbit/s"');
  expect(after.runs[0]?.figures).not.toEqual(before.runs[0]?.figures);
  expect(await picture(page, "rates")).not.toBe(drawn);
  for (const id of ["delays", "shares", "queues"]) {
    expect((await picture(page, id)).length, id).toBeGreaterThan(2_000);
  }
  const cells = await page.locator("#table tr:nth-child(2) td").allTextContents();
  const [flow] = after.runs[0]?.figures.flows ?? [];
  expect(cells[1]).toBe(flow?.throughput_mbps.toFixed(2));
  expect(cells[4]).toBe(flow?.frame_delay_ms?.p99.toFixed(1));

  expect(page.url()).toBe(`${url}#rate=35`);
  const other = await open(await browser.window(), page.url());
  const same = await shown(other);
  expect(same.text).toBe(after.text);
  expect(same.runs).toEqual(after.runs);
  expect(await other.locator("#set-rate").inputValue()).toBe("35");
  expect(loaded()).toBeLessThan(MOST);
});

test("speed is recorded", async () => {
  const { url, loaded } = await serve();
  const page = await (await startBrowser()).window();
  const figures: Record<string, object | number> = {};
  for (const [name, fragment] of [
    ["two runs, 20 Mbit/s", ""],
    ["two streams and TCP over Wi-Fi", "tcp=cubic&place=beside&hop=n&neighbours=2"],
    ["one run, 100 Mbit/s", "rate=100&second=&middle=100"],
  ] as const) {
    await open(page, `${url}#${fragment}`);
    const first = (await shown(page)).speed;
    const later = [];
    for (const seed of [2, 3, 4, 5, 6]) {
      await page.locator("#set-seed").fill(String(seed));
      later.push(
        await until("the seed is shown", async () => {
          const { text, speed } = await shown(page);
          return text.includes(`seed = ${seed}\n`) && speed;
        }),
      );
    }
    later.sort((one, other) => one - other);
    figures[name] = { first: Math.round(first), median: Math.round(later[2] ?? 0) };
  }
  figures.loaded = loaded();
  console.log(JSON.stringify(figures));
  writeFigures("playground", figures);
});

test("an edited text is simulated, held by the link, and refused in words", async () => {
  const { url } = await serve();
  const browser = await startBrowser();
  const page = await open(await browser.window(), url);
  const { text } = await shown(page);
  await page.locator("#text summary").click();
  const edited = `${text.replace('rate = "20Mbit/s"', 'rate = "9Mbit/s"')}# edited\n`;
  await page.locator("#toml").fill(edited);
  const after = await until("the edited text is shown", async () => {
    const now = await shown(page);
    return now.text === edited && now;
  });
  expectSame(edited, after.runs);
  expect(await page.locator("#set-rate").isDisabled()).toBe(true);

  await page.locator("#toml").fill(edited.replace('"9Mbit/s"', '"9 apples"'));
  const error = page.locator("#error");
  await until("the mistake is shown", () => error.isVisible());
  const words = await error.textContent();
  expect(words).toMatch(/^scenario:7: `apples` is no unit of a rate; use one of /);
  await page.screenshot({ path: outFile("playground-error.png"), fullPage: true });
  const other = await open(await browser.window(), page.url());
  await until("the link shows the mistake", () => other.locator("#error").isVisible());
  expect(await other.locator("#error").textContent()).toBe(words);
  expect(await other.locator("#toml").inputValue()).toContain("9 apples");

  // Days of virtual time are given up for what comes next.
  await page.locator("#toml").fill(text.replace('duration = "30s"', 'duration = "900000s"'));
  await until("the text is in the link", () => page.url().includes("900000s"));
  await page.locator("#reset").click();
  expect((await shown(page)).text).toBe(text);
  expect(await error.isVisible()).toBe(false);
  expect(page.url()).toBe(url);
});

test("it fits a phone, by day and at dusk", async () => {
  const { url } = await serve();
  const browser = (await startBrowser()).context.browser();
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [name, viewport] of [
      ["desktop", { width: 1280, height: 800 }],
      ["phone", { width: 390, height: 844 }],
    ] as const) {
      const context = await browser?.newContext({ viewport, colorScheme });
      const page = await context?.newPage();
      if (!page) {
        throw new Error("no page");
      }
      await open(page, `${url}#tcp=cubic&place=beside&hop=n&neighbours=2`);
      await shown(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, name).toBeLessThanOrEqual(viewport.width);
      await page.screenshot({
        path: outFile(`playground-${name}-${colorScheme}.png`),
        fullPage: name === "phone",
      });
    }
  }
});
