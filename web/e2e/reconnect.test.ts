// What breaks comes back: the network, and the browser.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { candidates, look, reach, screenshot, startBrowser, watchFrames } from "./support/browser";
import { type Host, SMALL, startHost } from "./support/host";
import { HOST_ADDRESS, noPath, Path } from "./support/path";
import { fingerprint } from "./support/probe";
import { sleep, until } from "./support/wait";

const why = noPath();

/** A host and a page that plays, with a path between them. */
async function playing(
  name: string,
  bind: string = HOST_ADDRESS,
): Promise<{ path: Path; host: Host; page: Page }> {
  const path = new Path();
  const host = await startHost({
    name,
    place: path.host,
    args: ["--bind", bind, "--token", "reconnect-reconnect", ...SMALL],
  });
  const browser = await startBrowser({ place: path.browser });
  const page = await browser.play(
    host.plays.find((url) => url.includes(HOST_ADDRESS)) ?? host.play,
  );
  await watchFrames(page, 30);
  return { path, host, page };
}

/** The protocol by which the page's stream comes. */
async function protocol(page: Page): Promise<string | undefined> {
  return (await candidates(page))[1]?.protocol;
}

/** How many frames the page has shown in all its sessions. */
function shownInAll(page: Page): Promise<number> {
  return page.evaluate(
    () => document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0,
  );
}

// Under CI these must run: there they fail where they cannot.
describe.skipIf(why !== undefined && !process.env.CI)("a network that breaks", () => {
  test("the page comes back by itself once UDP is cut, by TCP", async () => {
    const { path, host, page } = await playing("reconnect-udp");
    const before = await look(page);
    expect(await protocol(page)).toBe("udp");
    path.cutUdp();
    await sleep(1_000);
    const early = await shownInAll(page);
    await sleep(1_000);
    expect(await shownInAll(page), "frames while UDP is cut").toBe(early);
    await until("another session", async () => {
      const { state, session } = await look(page);
      return state === "playing" && session !== before.session;
    });
    await watchFrames(page, 30);
    expect(await protocol(page)).toBe("tcp");
    const after = await look(page);
    // The controller has reports by TCP as by UDP.
    await until("a target", async () => Number((await look(page)).statistics?.target) > 0);
    expect((await look(page)).statistics?.feedback).toBe(before.statistics?.feedback);
    expect(after.reconnects).toBe(1);
    expect(after.session).not.toBe(before.session);
    expect(after.taken, "keys go to the game again").toBe(true);
    expect(host.running).toBe(true);
    expect(host.log.match(/\bserving\b/g)).toHaveLength(1);
  });

  test("a session goes on at an address that the host gets within it", async () => {
    const { path, host, page } = await playing("reconnect-moved", "0.0.0.0");
    const before = await look(page);
    path.addSecond();
    await until("the host has the address", () => host.log.includes("addresses have changed"));
    await sleep(1_000);
    path.removeFirst();
    await sleep(1_000);
    const early = await shownInAll(page);
    await until("the picture goes on", async () => (await shownInAll(page)) > early + 30);
    const after = await look(page);
    expect(after).toMatchObject({ session: before.session, reconnects: 0 });
  });

  test("the page comes back after the host has given its session up", async () => {
    const { path, host, page } = await playing("reconnect-long");
    path.cut();
    await until("the host gives the session up", () => host.log.includes("the browser has gone"));
    await sleep(1_000);
    const { state, error } = await look(page);
    expect({ state, error }).toEqual({ state: "reconnecting", error: null });
    await screenshot(page, "reconnect-long");
    expect((await fingerprint(page)).colours, "the last frame stays").toBeGreaterThan(100);
    path.mend();
    await reach(page, "playing");
    await watchFrames(page, 30);
    expect((await look(page)).reconnects).toBe(1);
    expect(host.running).toBe(true);
  });
});

test("the host survives a browser that is killed", async () => {
  const host = await startHost({ name: "killed", args: SMALL });
  const first = await startBrowser();
  const page = await first.play(host.play);
  await watchFrames(page, 30);
  expect((await info(host)).player_present).toBe(true);
  first.kill();
  await until("the host notices", async () => !(await info(host)).player_present);
  expect(host.log).toContain("the browser has gone");

  const second = await startBrowser();
  const again = await second.play(host.play);
  await watchFrames(again, 30);
  expect(host.log).not.toMatch(/ERROR|panicked/);
});

async function info(host: Host): Promise<{ player_present: boolean }> {
  return (await fetch(host.at("/api/info"))).json();
}
