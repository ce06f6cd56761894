// Who gets in: tokens, origins, names, limits.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { look, press, reach, screenshot, startBrowser, watchFrames } from "./support/browser";
import { type Host, startHost } from "./support/host";
import { type Answer, ask } from "./support/http";
import { until } from "./support/wait";
import { wire } from "./support/wire";

const SDP = "application/sdp";
/** An offer of nothing: what it is refused with says what it got past. */
const EMPTY = "v=0\r\n";

test("a host that others can reach asks for its token", async () => {
  const host = await open("token");
  const { play, watch } = tokens(host);
  const browser = await startBrowser();

  const page = await browser.open(host.at("/"));
  await until("the page asks for the token", () => page.locator("#token-form").isVisible());
  const { state, error } = await look(page);
  expect({ state, code: error?.code }).toEqual({ state: "idle", code: "token-missing" });
  await screenshot(page, "token");
  await page.fill("#token", "not-the-token-of-this-host");
  await page.locator("#token-form button").click();
  await until("it is refused", async () => (await look(page)).error?.code === "token-wrong");
  await page.fill("#token", play);
  await page.locator("#token-form button").click();
  await until("it is taken", async () => (await look(page)).error === null);
  await press(page, "play");
  await reach(page, "playing");
  await page.close();

  // The URLs that the host printed.
  const player = await browser.play(host.play);
  expect(player.url(), "the token leaves the address bar").not.toContain(play);
  await watchFrames(player, 10);
  await player.close();
  const viewer = await browser.open(host.watch);
  expect((await reach(viewer, "watching")).role).toBe("viewer");
  await viewer.close();
  // Who may only watch and wants to play, watches.
  const wishful = await browser.open(`${host.at("/")}#token=${watch}`);
  await press(wishful, "play");
  expect((await reach(wishful, "watching")).role).toBe("viewer");

  expect(host.log).toContain("begun");
  expect(host.log).not.toContain(play);
  expect(host.log).not.toContain(watch);
});

test("a host for its own machine asks for its token as well", async () => {
  const host = await startHost({ name: "token-loopback", guarded: true });
  const { play } = tokens(host);
  expect(JSON.parse((await ask(host.at("/api/info"))).text)).toMatchObject({
    token_required: true,
  });
  expect(problem(await offer(host, "", {}))).toEqual([401, "token-missing"]);
  expect(problem(await offer(host, "", bearer(play)))).toEqual([400, "bad-offer"]);
  // Other programs of the machine may read its metrics.
  expect((await ask(host.at("/metrics"))).status).toBe(200);
});

test("signalling wants the right token", async () => {
  const host = await open("token-http");
  const { play, watch } = tokens(host);
  const strangers = await ask(host.at("/api/info"));
  expect(strangers.status).toBe(200);
  expect(Object.keys(JSON.parse(strangers.text)).sort()).toEqual([
    "name",
    "pairing",
    "token_required",
    "version",
  ]);
  const known = await ask(host.at("/api/info"), { headers: bearer(play) });
  expect(JSON.parse(known.text)).toMatchObject({ token_required: true, source: "demo" });

  expect(problem(await offer(host, "", {}))).toEqual([401, "token-missing"]);
  expect(problem(await offer(host, "", bearer("wrong-wrong-wrong-wrong")))).toEqual([
    403,
    "token-wrong",
  ]);
  expect(problem(await offer(host, "?role=player", bearer(watch)))).toEqual([403, "view-only"]);
  // These get as far as the offer.
  expect(problem(await offer(host, "?role=player", bearer(play)))).toEqual([400, "bad-offer"]);
  expect(problem(await offer(host, "?role=viewer", bearer(watch)))).toEqual([400, "bad-offer"]);
  expect(host.log).not.toContain(play);
  expect(host.log).not.toContain(watch);
});

test("a device pairs by the PIN that the host shows", async () => {
  const host = await startHost({ name: "pairing", guarded: true, terminal: true });
  const pin = await until("a PIN is shown", () => /^pin\s+(\d{6})\s/m.exec(host.printed)?.[1]);
  const listened = await wire(host.play);
  const browser = await startBrowser();
  const page = await browser.open(listened.url("/"));
  await until("the page asks for the PIN", () => page.locator("#pin-form").isVisible());
  await screenshot(page, "pin");
  expect(await page.getByText("The host does not answer").isVisible()).toBe(false);
  const enter = async (text: string) => {
    await page.fill("#pin", text);
    await page.fill("#device", 'Test\'s "tablet"');
    await page.click("#pin-form button");
  };
  await enter(pin === "123456" ? "654321" : "123456");
  await until("it is refused", async () => (await look(page)).error?.code === "pin-wrong");
  await enter(pin);
  await until("it is taken", async () => (await look(page)).error === null);
  expect(host.printed).toContain('paired Test\'s "tablet", which may play');
  await press(page, "play");
  await reach(page, "playing");
  // The browser remembers it.
  await page.reload();
  await until("the page is there", () => page.evaluate(() => window.mimosa !== undefined));
  await press(page, "play");
  await reach(page, "playing");
  const kept = readFileSync(`${host.state}/devices.toml`, "utf8");
  const token = /^token = "(\w{32})"$/m.exec(kept)?.[1] ?? "none";
  expect(listened.passed).toContain('id="');
  expect(listened.passed).not.toContain(token);
  expect(host.log).not.toContain(token);
  expect(host.log).not.toContain(pin);
});

test("whoever listens on the way hears no token", async () => {
  const host = await startHost({ name: "token-wire", guarded: true });
  const { play } = tokens(host);
  const listened = await wire(host.play);
  const browser = await startBrowser();
  const page = await browser.play(listened.url(`/#token=${play}`));
  await watchFrames(page, 10);
  // The bar hides while somebody plays.
  await page.evaluate(() => document.querySelector<HTMLElement>("#leave")?.click());
  await until("the page takes leave", () => listened.passed.includes("DELETE /whep/"));
  for (const request of ["POST /api/challenge", "GET /api/info", "POST /whep?"]) {
    expect(listened.passed).toContain(request);
  }
  expect(listened.passed).toContain("fingerprint:sha-256");
  expect(listened.passed).not.toContain(play);
  expect(listened.passed).not.toContain(btoa(play));
});

test("whoever puts another fingerprint into offer or answer is noticed", async () => {
  const host = await startHost({ name: "token-middle", guarded: true });
  const { play } = tokens(host);
  const browser = await startBrowser();
  const other = (text: string) =>
    text.replace(/(fingerprint:sha-256 )..(:..)/g, (_, name, second) => `${name}EE${second}`);
  for (const [what, code] of [
    ["POST /whep?", "token-wrong"],
    ["201 Created", "not-proven"],
  ] as const) {
    let changes = false;
    const changed = await wire(host.play, (text) => {
      // A body may come in a piece of its own.
      changes ||= text.includes(what);
      return changes ? other(text) : text;
    });
    const page = await browser.open(changed.url(`/#token=${play}`));
    await press(page, "play");
    await until(`the page says ${code}`, async () => (await look(page)).error?.code === code);
    expect(changed.passed).toContain("fingerprint:sha-256 EE:");
    await page.close();
  }
});

test("other sites and other names are refused", async () => {
  const host = await startHost({ name: "origin" });
  const { host: name, origin } = new URL(host.play);
  for (const foreign of ["https://example.org", "http://localhost:1", "null"]) {
    const answer = await offer(host, "", { origin: foreign });
    expect(problem(answer), foreign).toEqual([403, "origin"]);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  }
  expect(problem(await offer(host, "", { origin }))).toEqual([400, "bad-offer"]);
  for (const other of ["example.org", "localhost.example.org", "192.0.2.77:80"]) {
    const answer = await ask(host.at("/"), { headers: { host: other } });
    expect(problem(answer), other).toEqual([403, "origin"]);
  }
  expect((await ask(host.at("/"), { headers: { host: name } })).status).toBe(200);

  // With a token the host also answers to its addresses, but to no other name: a page of
  // another site could have that name lead here.
  const guarded = await open("origin-token");
  const token = bearer(tokens(guarded).play);
  const by = async (host: string) => problem(await offer(guarded, "", { ...token, host }));
  expect(await by("192.0.2.77:80")).toEqual([400, "bad-offer"]);
  expect(await by("example.org")).toEqual([403, "origin"]);
  const foreign = await offer(guarded, "", { ...token, origin: "https://example.org" });
  expect(problem(foreign)).toEqual([403, "origin"]);
});

test("what is no offer is refused", async () => {
  const host = await startHost({ name: "offers" });
  expect(problem(await offer(host, "", {}, "no SDP at all"))).toEqual([400, "bad-offer"]);
  expect(problem(await offer(host, "", {}, ""))).toEqual([400, "bad-offer"]);
  const large = EMPTY + "a".repeat(64 * 1024);
  expect(problem(await offer(host, "", {}, large))).toEqual([413, "too-large"]);
  const text = { "content-type": "text/plain" };
  expect(problem(await offer(host, "", text))).toEqual([415, "bad-type"]);
  expect(problem(await offer(host, "?role=king", {}))).toEqual([400, "bad-request"]);
  expect(problem(await offer(host, "?feedback=smoke", {}))).toEqual([400, "bad-request"]);
  const nobody = await ask(host.at("/whep/0123456789abcdef0123456789abcdef"), { method: "DELETE" });
  expect(problem(nobody)).toEqual([404, "no-session"]);
  expect((await ask(host.at("/api/info"))).status).toBe(200);
});

test("many attempts are slowed down", async () => {
  const host = await startHost({ name: "many" });
  // One address may have 16 connections at once.
  const answers: Answer[] = [];
  for (let group = 0; group < 6; group++) {
    const sent = Array.from({ length: 10 }, () => offer(host, "", {}));
    answers.push(...(await Promise.all(sent)));
  }
  const refused = answers.filter(({ status }) => status === 429);
  // Twenty at once, and two more each second.
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(20);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect(answer.code).toBe("too-many-requests");
    expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  }
  const wait = Number(refused[0]?.headers["retry-after"]);
  await new Promise((resolve) => setTimeout(resolve, (wait + 1) * 1000));
  expect((await offer(host, "", {})).status).toBe(400);
});

/** A host that others can reach, on every address of this machine. */
function open(name: string): Promise<Host> {
  return startHost({ name, args: ["--bind", "0.0.0.0", "--log", "debug"] });
}

function tokens(host: Host): { play: string; watch: string } {
  const token = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get("token");
  const [play, watch] = [token(host.play), token(host.watch)];
  if (!play || !watch || play === watch) {
    throw new Error("the host has printed no tokens, or one for both");
  }
  return { play, watch };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function offer(
  host: Host,
  query: string,
  headers: Record<string, string>,
  body = EMPTY,
): Promise<Answer> {
  const all = { "content-type": SDP, ...headers };
  return ask(host.at(`/whep${query}`), { method: "POST", headers: all, body });
}

function problem({ status, code }: Answer): [number, string | undefined] {
  return [status, code];
}
