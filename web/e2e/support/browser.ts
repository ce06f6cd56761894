// A browser for one test, with a profile of its own, and the page in it.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Surface } from "../../src/surface";
import { outFile, ROOT } from "./out";
import { at, type Place } from "./place";
import { listen, type Tab } from "./probe";
import { until } from "./wait";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const VIEW = { width: 1280, height: 720 };

export interface BrowserOptions {
  /** Where it runs, if not here. */
  readonly place?: Place;
  /** An origin that it takes for secure, as it takes those on this machine and with HTTPS. */
  readonly trusts?: string;
  /** The hash of the one public key that it trusts without an authority, in hexadecimal. */
  readonly key?: string | undefined;
  /** Whether it offers reports of RFC 8888 and looks at the ECN field of what comes. */
  readonly reports?: boolean;
}

/** The argument that has Chromium offer reports of RFC 8888, as the page's help names it. */
export const TRIAL = String(
  readFileSync(`${ROOT}web/index.html`, "utf8").match(/--force-fieldtrials=[^<]+/),
);

export class Browser {
  readonly context: BrowserContext;
  /** What the browser's pages complained about. */
  readonly complaints: string[] = [];
  #hasWindow = false;
  readonly #folder: string;

  constructor(context: BrowserContext, folder: string) {
    this.context = context;
    this.#folder = folder;
  }

  /** A page at this address, not playing yet. */
  async open(url: string): Promise<Page> {
    const page = await this.window();
    page.on("pageerror", (error) => this.complaints.push(error.message));
    await page.addInitScript(listen);
    await page.goto(url);
    await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
    return page;
  }

  /** A page that plays. */
  async play(url: string): Promise<Page> {
    const page = await this.open(url);
    await press(page, "play");
    await reach(page, "playing");
    return page;
  }

  /** An empty page in a window of its own: one behind another gets a frame a second. */
  async window(): Promise<Page> {
    if (!this.#hasWindow) {
      this.#hasWindow = true;
      return this.context.newPage();
    }
    const context = await this.context.browser()?.newContext({ viewport: VIEW });
    return (context ?? this.context).newPage();
  }

  /** Kills every process of it, as a crash does. */
  kill(): void {
    for (const pid of family(Number(readFileSync(join(this.#folder, "pid"), "utf8")))) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It went with its parent.
      }
    }
  }
}

/** Starts a browser that lives until the test has ended. */
export async function startBrowser(options: BrowserOptions = {}): Promise<Browser> {
  const { place, trusts, key, reports } = options;
  const known = key && Buffer.from(key, "hex").toString("base64");
  const folder = mkdtempSync(join(tmpdir(), "mimosa-e2e-"));
  const start = join(folder, "start");
  // The shell becomes the browser, so that its number is known.
  const command = at(place, [CHROMIUM])
    .map((word) => `'${word}'`)
    .join(" ");
  writeFileSync(start, `#!/bin/sh\necho $$ >'${folder}/pid'\nexec ${command} "$@"\n`, {
    mode: 0o755,
  });
  const context = await chromium.launchPersistentContext(join(folder, "profile"), {
    executablePath: start,
    headless: true,
    viewport: VIEW,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...(reports ? [TRIAL] : []),
      ...(known ? [`--ignore-certificate-errors-spki-list=${known}`] : []),
      ...(trusts ? [`--unsafely-treat-insecure-origin-as-secure=${trusts}`] : []),
    ],
  });
  const browser = new Browser(context, folder);
  onTestFinished(async () => {
    // A page that closes ends its session, which a browser that ends does not; and one that was
    // killed has nothing to close.
    const contexts = context.browser()?.contexts() ?? [context];
    const pages = contexts.flatMap((each) => each.pages());
    await Promise.all(pages.map((page) => page.close().catch(() => {})));
    await context.close().catch(() => {});
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    if (browser.complaints.length > 0) {
      throw new Error(`errors in the page:\n${browser.complaints.join("\n")}`);
    }
  });
  return browser;
}

/** `window.mimosa` as it is now. */
export type Snapshot = Omit<Surface, "pc">;

export function look(page: Tab): Promise<Snapshot> {
  return page.evaluate(() => {
    const { state, error, role, session, statistics, client, shown, reconnects, taken } =
      window.mimosa;
    return { state, error, role, session, statistics, client, shown, reconnects, taken };
  });
}

/** Presses one of the card's buttons. */
export async function press(
  page: Tab,
  action: "play" | "watch" | "test-line" | "retry",
): Promise<void> {
  await page.click(`#card-actions button[data-action=${action}]`);
}

/** Waits for a state. */
export async function reach(page: Tab, state: Surface["state"]): Promise<Snapshot> {
  let last = "";
  const what = () => `the page's state is ${state}, after ${last}`;
  return until(what, async () => {
    const now = await look(page);
    last = now.state;
    if (now.state === "failed" && state !== "failed") {
      const steps = await page.evaluate(() => window.probe.steps);
      throw new Error(`the page gave up: ${now.error?.message}\n${steps.join("\n")}`);
    }
    return now.state === state && now;
  });
}

/** Waits for so many frames more than have been shown by now. */
export async function watchFrames(page: Tab, count: number): Promise<void> {
  const { shown, session } = await look(page);
  await until(`${count} frames more are shown`, async () => {
    const now = await look(page);
    return now.session !== session || now.shown >= shown + count;
  });
}

/** What getStats() says of the picture's stream, and of its codec `mimeType`. */
export function inbound(page: Tab): Promise<Record<string, unknown>> {
  return page.evaluate(async () => {
    const report = await window.mimosa.pc?.getStats();
    let found = {};
    report?.forEach((entry) => {
      if (entry.type === "inbound-rtp" && entry.kind === "video") {
        found = { ...entry, mimeType: report.get(entry.codecId)?.mimeType };
      }
    });
    return found;
  });
}

/** A picture of the page in out/e2e: PNG, or JPEG where the name ends so. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (name.endsWith(".jpg")) {
    await page.screenshot({ path: outFile(name), type: "jpeg", quality: 85 });
  } else {
    await page.screenshot({ path: outFile(`${name}.png`) });
  }
}

/** A process and everything that comes of it, parents first. */
export function family(pid: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).split("\n");
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const all = [pid];
  for (const parent of all) {
    all.push(...pairs.filter(([, of]) => of === parent).map(([child]) => child ?? 0));
  }
  return all;
}

/** The candidates between which the stream comes: the page's own and the host's. */
export function candidates(page: Page): Promise<(Record<string, string> | undefined)[]> {
  return page.evaluate(async () => {
    const report = await window.mimosa.pc?.getStats();
    const entries = new Map<string, Record<string, string>>();
    report?.forEach((entry, id) => {
      entries.set(id, entry);
    });
    const transport = [...entries.values()].find(({ type }) => type === "transport");
    const pair = entries.get(transport?.selectedCandidatePairId ?? "");
    return [pair?.localCandidateId, pair?.remoteCandidateId].map((id) => entries.get(id ?? ""));
  });
}
