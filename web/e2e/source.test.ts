// What games, their windows and X servers do in the middle of a session.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import {
  type Browser,
  look,
  press,
  reach,
  screenshot,
  startBrowser,
  watchFrames,
} from "./support/browser";
import { BINARY, type Host, startHost, troubles } from "./support/host";
import { ask } from "./support/http";
import { Puppet, started, strike } from "./support/puppet";
import { until } from "./support/wait";

const SIZE = "640x360";

test("a game that fails ends the sessions with its reason", async () => {
  const puppet = new Puppet("game-fails");
  const host = await startHost({
    name: "game-fails",
    args: ["--launch", puppet.command, "--size", SIZE],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  const viewer = await browser.open(host.watch);
  await reach(viewer, "watching");
  await watchFrames(page, 10);
  puppet.tell("exit 3");
  for (const one of [page, viewer]) {
    await reach(one, "ended");
    expect(await card(one)).toBe("The game has ended (exit status: 3).");
  }
  await screenshot(page, "game-fails");
  expect(await host.ended()).toBe(2);
  expect(host.log.match(/network: the game has ended/g)).toHaveLength(1);
  expect(host.log).toMatch(/^error: `exec .*` ended \(exit status: 3\)/m);
  expect(host.log).not.toMatch(/panicked/);
});

test("a game that ends well ends the host so", async () => {
  const puppet = new Puppet("game-ends");
  const host = await startHost({
    name: "game-ends",
    args: ["--launch", puppet.command, "--size", SIZE],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  puppet.tell("exit 0");
  await reach(page, "ended");
  expect(await card(page)).toBe("The game has ended.");
  expect(await host.ended()).toBe(0);
});

test("a game that is killed is told from one that ends", async () => {
  const puppet = new Puppet("game-killed");
  const host = await startHost({
    name: "game-killed",
    args: ["--launch", puppet.command, "--size", SIZE],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  strike(started(host.pid, "x11-puppet")[0]);
  await reach(page, "ended");
  expect(await card(page)).toBe("The game has ended (signal: 9 (SIGKILL)).");
  expect(await host.ended()).toBe(2);
});

test("a game that does not start is no host", () => {
  const args = ["serve", "--http-port", "0", "--udp-port", "0", "--size", SIZE];
  const command = "echo no wad >&2; exit 3";
  const { status, stderr, stdout } = spawnSync(BINARY, [...args, "--launch", command], {
    encoding: "utf8",
  });
  expect(status).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/error: .* ended \(exit status: 3\)\. It wrote:\nno wad/);
});

test("an X server that is killed ends the sessions, and is named", async () => {
  const puppet = new Puppet("server-killed");
  const host = await startHost({
    name: "server-killed",
    args: ["--launch", puppet.command, "--size", SIZE],
  });
  const browser = await startBrowser();
  const page = await browser.play(host.play);
  await watchFrames(page, 10);
  strike(started(host.pid, "Xvfb")[0]);
  await reach(page, "ended");
  expect(await card(page)).toBe("The game's X server has ended.");
  expect(await host.ended()).toBe(2);
  expect(host.log).toMatch(/^error: the game's X server ended \(signal: 9 \(SIGKILL\)\)/m);
  expect(host.log).not.toMatch(/panicked/);
});

test("a display that comes back is gone on with, and so is its window", async () => {
  const server = new Server();
  await server.start();
  const puppet = new Puppet("display");
  server.run(puppet.command);
  const title = ["--title", "as it is told"];
  await until("the window is there", () => server.windows.includes("as it is told"));
  const host = await startHost({
    name: "display",
    args: ["--source", "x11", "--display", server.display, ...title],
  });
  const browser = await startBrowser();
  const page = await playByPlace(browser, host.play);
  const { session } = await look(page);
  await watchFrames(page, 10);

  puppet.tell("hide");
  await told(page, "The game's window is not shown.");
  await screenshot(page, "window-hidden");
  puppet.tell("show");
  await told(page, "");

  puppet.tell("size 12 200");
  await told(page, /^The game's window is too small or too large for a picture/);
  puppet.tell("size 320 240");
  await told(page, "");
  await until("the picture has its size", async () => (await pictureSize(page)) === "320x240");

  puppet.tell("close");
  await told(page, "The game's window is gone; the picture goes on when it is back.");
  puppet.tell("open");
  await told(page, "");
  await watchFrames(page, 10);

  server.kill();
  await told(page, "The display is gone; the picture goes on when it is back.");
  // A page that comes meanwhile is told as well.
  const viewer = await browser.open(host.watch);
  await told(viewer, "The display is gone; the picture goes on when it is back.");
  await server.start();
  puppet.forget();
  server.run(puppet.command);
  await told(page, "");
  await told(viewer, "");
  await watchFrames(page, 10);
  await pointAt(page, 0.25, 0.75);
  expect((await look(page)).session, "one session through it all").toBe(session);
  expect((await look(page)).reconnects).toBe(0);
  expect(host.log.match(/no pictures come/g)).toHaveLength(4);
  expect(host.log.match(/pictures come again/g)).toHaveLength(4);
  const { text } = await ask(host.at("/metrics"));
  expect(text).toMatch(/^mimosa_source_waits_total 4$/m);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

test("a source of another size is followed", async () => {
  const puppet = new Puppet("sizes");
  const host = await startHost({
    name: "source-sizes",
    args: ["--launch", puppet.command, "--size", "1280x720"],
  });
  const browser = await startBrowser();
  const page = await playByPlace(browser, host.play);
  const { session } = await look(page);
  await pointAt(page, 0.5, 0.5);
  for (const [wide, high] of [
    [800, 600],
    // Rounded down to even.
    [333, 251],
    [16, 16],
    [18, 720],
    [1280, 720],
  ] as const) {
    puppet.tell(`screen ${wide} ${high}`);
    const size = `${wide - (wide % 2)}x${high - (high % 2)}`;
    await until(`the picture is ${size}`, async () => (await pictureSize(page)) === size);
    await watchFrames(page, 20);
    if (wide > 100) {
      await pointAt(page, 0.25, 0.75);
    }
    expect(await info(host)).toMatchObject({ width: wide - (wide % 2), height: high - (high % 2) });
  }
  const { statistics, session: last, reconnects } = await look(page);
  expect([last, reconnects], "one session through it all").toEqual([session, 0]);
  // One for each size, and some for what got lost.
  expect(statistics?.frames?.keyframes).toBeLessThan(20);
  await page.close();
  expect(await host.stop()).toBe(0);
  expect(troubles(host.log)).toEqual([]);
});

/** A page that plays, and whose pointer is where it is in the picture. */
async function playByPlace(browser: Browser, url: string): Promise<Page> {
  const page = await browser.open(url);
  await page.evaluate(() => {
    localStorage.setItem("mimosa.settings", JSON.stringify({ holdPointer: false }));
  });
  await page.reload();
  await press(page, "play");
  await reach(page, "playing");
  return page;
}

/** What the page says in the middle. */
function card(page: Page): Promise<string> {
  return page.locator("#card-text").innerText();
}

/** Waits until the page says this at its edge, or nothing about pictures. */
async function told(page: Page, text: string | RegExp): Promise<void> {
  const status = page.locator("#status");
  await until(`the page says ${text || "nothing of pictures"}`, async () => {
    const now = await status.innerText();
    if (text === "") {
      return !/window|display/.test(now);
    }
    return typeof text === "string" ? now === text : text.test(now);
  });
}

function pictureSize(page: Page): Promise<string> {
  return page.evaluate(() => {
    const video = document.querySelector("video");
    return `${video?.videoWidth}x${video?.videoHeight}`;
  });
}

async function info(host: Host): Promise<object> {
  return JSON.parse((await ask(host.at("/api/info"))).text);
}

/** Moves the pointer to a place of the picture, and waits until it is seen there. */
async function pointAt(page: Page, right: number, down: number): Promise<void> {
  const place = await page.evaluate(
    ({ right, down }) => {
      const video = document.querySelector("video");
      const box = video?.getBoundingClientRect();
      if (!video || !box) {
        throw new Error("no video");
      }
      const { videoWidth, videoHeight } = video;
      const scale = Math.min(box.width / videoWidth, box.height / videoHeight);
      const across = (part: number, whole: number, length: number) =>
        (whole - length * scale) / 2 + part * length * scale;
      return {
        x: box.x + across(right, box.width, videoWidth),
        y: box.y + across(down, box.height, videoHeight),
      };
    },
    { right, down },
  );
  await page.mouse.move(place.x - 5, place.y - 5);
  await page.mouse.move(place.x, place.y);
  await until(`the pointer is seen at ${right}, ${down}`, () => isRed(page, right, down));
}

function isRed(page: Page, right: number, down: number): Promise<boolean> {
  return page.evaluate(
    ({ right, down }) => {
      const video = document.querySelector("video");
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("2d");
      if (!video || !context) {
        throw new Error("no video or no canvas");
      }
      canvas.width = 1;
      canvas.height = 1;
      // In the square of 32, and beside the cursor of 16.
      const [x, y] = [right * video.videoWidth - 12, down * video.videoHeight];
      context.drawImage(video, x, y, 1, 1, 0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
      return red > 150 && green < 90 && blue < 90;
    },
    { right, down },
  );
}

/** An X server that is not the host's. */
class Server {
  /** A number that no server takes which looks for a free one: those begin at zero. */
  readonly display = `:${20_000 + (process.pid % 20_000)}`;
  #server: ChildProcess | undefined;
  readonly #all: ChildProcess[] = [];

  constructor() {
    onTestFinished(() => {
      for (const child of this.#all) {
        child.kill("SIGKILL");
      }
    });
  }

  /** What `xwininfo` says of it. */
  get windows(): string {
    const { stdout } = spawnSync("xwininfo", ["-root", "-tree", "-display", this.display], {
      encoding: "utf8",
    });
    return stdout;
  }

  async start(): Promise<void> {
    const args = [this.display, "-screen", "0", `${SIZE}x24`, "-nolisten", "tcp", "-noreset"];
    this.#server = spawn("Xvfb", args, { stdio: "ignore" });
    this.#all.push(this.#server);
    await until("the X server is ready", () => this.windows !== "");
  }

  kill(): void {
    this.#server?.kill("SIGKILL");
  }

  /** Runs a command on it. */
  run(command: string): void {
    const env = { ...process.env, DISPLAY: this.display };
    this.#all.push(spawn("sh", ["-c", command], { env, stdio: "ignore" }));
  }
}
