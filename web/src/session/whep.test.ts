import { afterEach, describe, expect, it, vi } from "vitest";
import { isProblemCode, noCodec, noUdp } from "../errors";
import { playable, udpEndpoints } from "./codecs";
import { Secret } from "./proof";
import { deviceIn, tokenIn } from "./token";
import { offerQuery, type Refusal, refusal, sessionIn, Whep } from "./whep";

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
}

describe("refusals", () => {
  it.each([
    [400, "bad-offer", ["retry"]],
    [401, "token-missing", ["token"]],
    [401, "challenge-old", ["retry"]],
    [403, "token-wrong", ["token"]],
    [403, "token-in-clear", ["token"]],
    [403, "pin-wrong", ["pin"]],
    [410, "pin-old", ["pin"]],
    [404, "no-pairing", ["token"]],
    [403, "view-only", ["watch", "token"]],
    [403, "origin", []],
    [403, "https-required", []],
    [404, "no-session", ["retry"]],
    [406, "no-codec", ["retry"]],
    [409, "player-present", ["watch", "retry"]],
    [413, "too-large", ["retry"]],
    [415, "bad-type", ["retry"]],
    [429, "too-many-requests", ["retry"]],
    [503, "host-full", ["retry"]],
  ])("%d %s", async (status, code, remedies) => {
    const { problem } = await refusal(answer(status, { error: code, message: "Do this." }));
    expect(problem).toMatchObject({ code, message: "Do this.", remedies });
    expect(problem.title).not.toBe("");
    expect(isProblemCode(code)).toBe(true);
  });

  it("have words of the page's own when the host sends none", async () => {
    const { problem } = await refusal(answer(401, "<html>Unauthorized</html>"));
    expect(problem.code).toBe("token-missing");
    expect(problem.message).toContain("paste");
  });

  it("of a proxy whose host is gone can pass", async () => {
    expect((await refusal(answer(502, "Bad Gateway"))).problem.code).toBe("unreachable");
  });

  it("that nobody knows name their status", async () => {
    const { problem } = await refusal(answer(418, { error: "teapot" }));
    expect(problem).toMatchObject({ code: "unknown", message: "HTTP status 418." });
  });

  it("for want of a codec name the plugin that one browser needs", () => {
    const firefox = noCodec("Gecko/20100101 Firefox/153.0", "Nothing of H.264.");
    expect(firefox).toMatchObject({ code: "no-codec", remedies: ["retry"] });
    expect(firefox.message).toMatch(/--encoder svt-av1.*OpenH264 plugin.* Nothing of H\.264\.$/);
    expect(noCodec("Chrome/156.0.0.0", "Nothing of H.264.").message).toBe("Nothing of H.264.");
  });

  it("say how long to wait", async () => {
    const body = { error: "too-many-requests", message: "" };
    expect((await refusal(answer(429, body, { "Retry-After": "3" }))).retryAfter).toBe(3000);
    expect(
      (await refusal(answer(429, body, { "Retry-After": "soon" }))).retryAfter,
    ).toBeUndefined();
    expect((await refusal(answer(429, body))).retryAfter).toBeUndefined();
  });
});

describe("requests", () => {
  it("name role, feedback and the session they replace", () => {
    const offer = { sdp: "", role: "player", feedback: "twcc-02", replaces: undefined } as const;
    expect(offerQuery(offer)).toBe("?role=player&feedback=twcc-02");
    expect(offerQuery({ ...offer, replaces: "a b" })).toBe(
      "?role=player&feedback=twcc-02&replaces=a+b",
    );
  });

  it("find the session in Location, wherever a proxy has put it", () => {
    expect(sessionIn("/whep/00ff")).toBe("00ff");
    expect(sessionIn("https://host/games/whep/00ff/?x#y")).toBe("00ff");
    expect(sessionIn(null)).toBeUndefined();
  });

  it("carry the token of the fragment", () => {
    expect(tokenIn("#token=s%20ecret")).toBe("s ecret");
    expect(tokenIn("#other=1&token=x")).toBe("x");
    expect(tokenIn("#token=")).toBeUndefined();
    expect(tokenIn("")).toBeUndefined();
  });

  it("take the token of a pairing that the browser has kept", () => {
    expect(deviceIn('{"id":"0a","token":"ff"}')).toEqual({ id: "0a", token: "ff" });
    for (const other of [null, "", "{}", '{"id":1,"token":"ff"}', "null", "[]"]) {
      expect(deviceIn(other)).toBeUndefined();
    }
  });
});

describe("sign-in", () => {
  const TOKEN = "player-player-player";
  const NONCE = "ab".repeat(32);
  const offer = {
    sdp: "v=0\r\n",
    role: "player",
    feedback: "twcc-02",
    replaces: undefined,
  } as const;
  const sdp = "a=fingerprint:sha-256 BB:BB\r\n";
  const bytes = (text: string) => new TextEncoder().encode(text);
  afterEach(() => vi.unstubAllGlobals());

  /** A host that knows a token; `change` is done to its answers on their way. */
  function host(knows: string, change: (text: string) => string, id = "00ff") {
    const sent: [string, RequestInit][] = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      sent.push([url, init]);
      if (url.endsWith("api/challenge")) {
        return answer(200, { nonce: NONCE });
      }
      const answered = { status: 201, session: "00ff", body: bytes(sdp) };
      const proof = Secret.ofToken(knows).answer(NONCE, bytes(offer.sdp), answered);
      return answer(201, change(sdp), { Location: `/whep/${id}`, "Mimosa-Proof": proof });
    });
    return sent;
  }
  const begin = () =>
    new Whep("http://192.0.2.7:8080/games/", () => ({ token: TOKEN })).begin(offer);
  const code = async () => {
    const error = await begin().catch((error: Refusal) => error);
    return "problem" in error ? error.problem.code : undefined;
  };

  it("takes the host's answer, and sends no token", async () => {
    const sent = host(TOKEN, (text) => text);
    expect(await begin()).toEqual({ session: "00ff", sdp });
    const target = "whep?role=player&feedback=twcc-02";
    const proof = Secret.ofToken(TOKEN).request(NONCE, {
      method: "POST",
      target,
      body: bytes(offer.sdp),
    });
    expect(sent[1]?.[0]).toBe(`http://192.0.2.7:8080/games/${target}`);
    expect(sent[1]?.[1].headers).toMatchObject({
      Authorization: `Mimosa nonce="${NONCE}", proof="${proof}"`,
    });
    const all = JSON.stringify(sent);
    expect(all).not.toContain(TOKEN);
    expect(all).not.toContain(btoa(TOKEN));
  });

  it("takes no answer that was changed, or is somebody else's", async () => {
    host(TOKEN, (text) => text.replace("BB", "EE"));
    expect(await code()).toBe("not-proven");
    host(TOKEN, (text) => text, "0100");
    expect(await code()).toBe("not-proven");
    host("another-another-another", (text) => text);
    expect(await code()).toBe("not-proven");
  });

  it("believes no host that pretends to ask for no token", async () => {
    vi.stubGlobal("fetch", async (url: string) =>
      url.endsWith("api/challenge")
        ? answer(200, { nonce: NONCE })
        : answer(200, { name: "mimosa", token_required: false, source: "demo" }),
    );
    const info = (base: string) => new Whep(base, () => ({ token: TOKEN })).info();
    await expect(info("http://192.0.2.7:8080/")).rejects.toMatchObject({
      problem: { code: "not-proven" },
    });
    // But for one on this machine, which nobody is in between.
    expect((await info("http://localhost:8080/")).source).toBe("demo");
  });
});

describe("a relay", () => {
  const TOKEN = "player-player-player";
  const NONCE = "ab".repeat(32);
  const servers = [{ urls: ["turn:relay.example.org"], username: "1", credential: "x" }];
  const bytes = (text: string) => new TextEncoder().encode(text);
  afterEach(() => vi.unstubAllGlobals());

  /** A host that knows a token, with a relay or without; gives the requests that it gets. */
  function host(relay: boolean, knows = TOKEN): string[] {
    const sent: string[] = [];
    vi.stubGlobal("fetch", async (url: string, { method }: RequestInit) => {
      const target = new URL(url).pathname;
      sent.push(`${method} ${target}`);
      if (target === "/api/challenge") {
        return answer(200, { nonce: NONCE });
      }
      const info = { name: "mimosa", token_required: true, source: "demo", relay };
      const body = JSON.stringify(target === "/api/info" ? info : { ice_servers: servers });
      const answered = { status: 200, session: "", body: bytes(body) };
      const secret = Secret.ofToken(target === "/api/info" ? TOKEN : knows);
      return answer(200, body, { "Mimosa-Proof": secret.answer(NONCE, bytes(""), answered) });
    });
    return sent;
  }
  const whep = () => new Whep("http://192.0.2.7:8080/", () => ({ token: TOKEN }));

  it("is asked for once, and again when it was refused", async () => {
    const sent = host(true);
    const page = whep();
    await page.info();
    expect(await page.relays()).toEqual(servers);
    expect(await page.relays()).toEqual(servers);
    const asked = () => sent.filter((request) => request === "GET /api/relay").length;
    expect(asked()).toBe(1);
    page.forgetRelays();
    await page.relays();
    expect(asked()).toBe(2);
  });

  it("is not asked for where there is none", async () => {
    const sent = host(false);
    const page = whep();
    expect(await page.relays()).toEqual([]);
    await page.info();
    expect(await page.relays()).toEqual([]);
    expect(sent).not.toContain("GET /api/relay");
  });

  it("is taken from nobody who does not know the token", async () => {
    host(true, "another-another-another");
    const page = whep();
    await page.info();
    await expect(page.relays()).rejects.toMatchObject({ problem: { code: "not-proven" } });
  });

  it("learns of candidates by requests of the session", async () => {
    const sent: [string, RequestInit][] = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      sent.push([url, init]);
      return new Response(null, { status: 204 });
    });
    await whep().trickle("00ff", ["candidate:1 1 udp 1 192.0.2.1 5 typ srflx"]);
    const [[url, init] = []] = sent;
    expect(url).toBe("http://192.0.2.7:8080/whep/00ff");
    expect(init).toMatchObject({
      method: "PATCH",
      headers: { "Content-Type": "application/trickle-ice-sdpfrag" },
      body: "a=candidate:1 1 udp 1 192.0.2.1 5 typ srflx\r\n",
    });
  });
});

describe("codecs", () => {
  const h264 = { mimeType: "video/H264", sdpFmtpLine: "a=1;packetization-mode=1;profile=42e01f" };
  const single = { mimeType: "video/H264", sdpFmtpLine: "packetization-mode=0" };
  const rtx = { mimeType: "video/rtx" };
  const fec = { mimeType: "video/flexfec-03" };
  const vp8 = { mimeType: "video/VP8" };

  it("are H.264 in the host's packetization, with retransmissions and repairs", () => {
    expect(playable([vp8, rtx, h264, single, fec])).toEqual([rtx, h264, fec]);
    expect(playable([vp8, rtx, single])).toEqual([]);
    expect(playable([{ ...h264, sdpFmtpLine: "packetization-mode=10" }])).toEqual([]);
  });

  it("are H.265 and AV1 of the profile Main as well", () => {
    const main = [
      { mimeType: "video/AV1" },
      { mimeType: "video/AV1", sdpFmtpLine: "level-idx=5;profile=0;tier=0" },
      { mimeType: "video/H265", sdpFmtpLine: "level-id=93; profile-id=1;tier-flag=0" },
    ];
    const others = [
      { mimeType: "video/AV1", sdpFmtpLine: "level-idx=5;profile=1;tier=0" },
      { mimeType: "video/H265", sdpFmtpLine: "profile-id=2;tier-flag=0" },
    ];
    expect(playable([...main, ...others, h264, rtx])).toEqual([...main, h264, rtx]);
    expect(playable([...others, rtx])).toEqual([]);
  });
});

it("names the host's UDP ports when nothing comes from them", () => {
  const sdp = [
    "a=candidate:1 1 udp 2130706431 192.168.1.5 47998 typ host",
    "a=candidate:2 1 UDP 2130706430 fe80::1 47998 typ host",
    "a=candidate:3 1 tcp 1 192.168.1.5 9 typ host tcptype active",
    "",
  ].join("\r\n");
  const endpoints = udpEndpoints(sdp);
  expect(endpoints).toEqual(["192.168.1.5:47998", "[fe80::1]:47998"]);
  expect(noUdp(endpoints).message).toContain("UDP port 47998 (192.168.1.5:47998, [fe80::1]:47998)");
  expect(noUdp([]).message).toContain("named no UDP address");
  // Firefox uses no loopback addresses.
  const loopback = ["127.0.0.1:47998", "[::1]:47998"];
  expect(noUdp(loopback).message).toMatch(/127\.0\.0\.1:47998, \[::1\]:47998.*--bind 0\.0\.0\.0/);
  expect(noUdp([...loopback, ...endpoints]).message).not.toContain("--bind");
});
