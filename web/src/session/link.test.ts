import { beforeEach, describe, expect, it } from "vitest";
import { problem, relayTrouble } from "../errors";
import {
  BACKOFF,
  DISCONNECTED_LIMIT,
  JOIN_LIMIT,
  Link,
  type LinkEvent,
  PATIENCE,
  SILENCE_LIMIT,
  STALL_MEMORY,
} from "./link";

let link: Link;
let now: number;

function handle(event: LinkEvent): string {
  return link.handle(now, event).action;
}

function connect(): void {
  handle({ kind: "answered", endpoints: ["10.0.0.1:5000"] });
  handle({ kind: "ice", state: "checking" });
  handle({ kind: "ice", state: "connected" });
}

function play(): void {
  handle({ kind: "start" });
  connect();
  handle({ kind: "picture" });
}

/** Ticks until something is to be done, and says what and after how long. */
function until(limit: number): [action: string, after: number] {
  const begin = now;
  while (now - begin <= limit) {
    const action = handle({ kind: "tick" });
    if (action !== "none") {
      return [action, now - begin];
    }
    now += 50;
  }
  return ["none", now - begin];
}

beforeEach(() => {
  // The middle: waits are exactly those of the table.
  link = new Link(() => 0.5);
  now = 1000;
});

describe("a session", () => {
  it("is offered, joined and live", () => {
    expect(link.phase).toBe("idle");
    expect(handle({ kind: "start" })).toBe("connect");
    expect(link.phase).toBe("offering");
    handle({ kind: "answered", endpoints: [] });
    expect(link.phase).toBe("joining");
    handle({ kind: "ice", state: "connected" });
    expect(link.phase).toBe("live");
    expect([link.hasPlayed, link.reconnects]).toEqual([false, 0]);
  });

  it("stays as long as something arrives", () => {
    play();
    for (let second = 0; second < 60; second++) {
      now += 1000;
      handle({ kind: "alive" });
      expect(handle({ kind: "tick" })).toBe("none");
    }
    expect([link.phase, link.reconnects]).toEqual(["live", 0]);
  });

  it("ends for good when told so", () => {
    play();
    expect(handle({ kind: "stop" })).toBe("close");
    expect(handle({ kind: "ice", state: "failed" })).toBe("none");
    expect(handle({ kind: "wake" })).toBe("none");
    expect(until(60_000)[0]).toBe("none");
    expect(link.phase).toBe("stopped");
  });
});

describe("a break", () => {
  it("is a longer silence where the browser may find the host elsewhere, in this session alone", () => {
    play();
    handle({ kind: "elsewhere" });
    const [action, after] = until(60_000);
    expect(action).toBe("connect");
    expect(after).toBeGreaterThan(PATIENCE * SILENCE_LIMIT);
    play();
    expect(until(60_000)[1]).toBeLessThanOrEqual(SILENCE_LIMIT + 50);
  });

  it("is a silence above the limit, and not before", () => {
    play();
    const [action, after] = until(60_000);
    expect(action).toBe("connect");
    expect(after).toBeGreaterThan(SILENCE_LIMIT);
    expect(after).toBeLessThanOrEqual(SILENCE_LIMIT + 50);
    expect([link.phase, link.reconnects]).toEqual(["offering", 1]);
    expect(link.cause).toBe("Nothing arrives any more");
  });

  it("is ICE disconnected for longer than the limit", () => {
    play();
    handle({ kind: "ice", state: "disconnected" });
    const [action, after] = until(60_000);
    expect(action).toBe("connect");
    expect(after).toBeGreaterThan(DISCONNECTED_LIMIT);
    expect(after).toBeLessThan(SILENCE_LIMIT);
  });

  it("is not ICE disconnected for a moment", () => {
    play();
    handle({ kind: "ice", state: "disconnected" });
    now += DISCONNECTED_LIMIT;
    expect(handle({ kind: "tick" })).toBe("none");
    handle({ kind: "ice", state: "connected" });
    now += DISCONNECTED_LIMIT;
    expect(handle({ kind: "tick" })).toBe("none");
    expect(link.reconnects).toBe(0);
  });

  it("is ICE failed, at once", () => {
    play();
    expect(handle({ kind: "ice", state: "failed" })).toBe("connect");
  });

  it("is counted once, however many attempts it takes, and forgotten with a picture", () => {
    play();
    handle({ kind: "ice", state: "failed" });
    for (let attempt = 0; attempt < 5; attempt++) {
      handle({ kind: "unanswered" });
      until(10_000);
    }
    expect([link.attempts, link.reconnects]).toEqual([6, 1]);
    connect();
    handle({ kind: "picture" });
    expect([link.attempts, link.reconnects, link.cause]).toEqual([0, 1, ""]);
    handle({ kind: "again" });
    expect(link.reconnects).toBe(2);
  });
});

describe("a decoder that stops", () => {
  it("is another session's business, once", () => {
    play();
    expect(handle({ kind: "stalled" })).toBe("connect");
    expect(link.cause).toBe("This browser stopped decoding the picture");
    connect();
    handle({ kind: "picture" });
    expect([link.phase, link.reconnects]).toEqual(["live", 1]);
    now += STALL_MEMORY - 1;
    expect(handle({ kind: "stalled" })).toBe("close");
    expect([link.phase, link.problem?.code]).toEqual(["failed", "no-decode"]);
    expect(until(60_000)[0]).toBe("none");
  });

  it("is forgotten after a while, and when a person begins anew", () => {
    play();
    handle({ kind: "stalled" });
    connect();
    handle({ kind: "picture" });
    now += STALL_MEMORY;
    expect(handle({ kind: "stalled" })).toBe("connect");
    connect();
    expect(handle({ kind: "stalled" })).toBe("close");
    play();
    expect(handle({ kind: "stalled" })).toBe("connect");
  });
});

describe("attempts", () => {
  it("follow each other at growing distances and never end", () => {
    play();
    expect(handle({ kind: "ice", state: "failed" })).toBe("connect");
    for (let attempt = 1; attempt < 50; attempt++) {
      expect(handle({ kind: "unanswered" })).toBe("close");
      expect(link.phase).toBe("waiting");
      const wait = BACKOFF[Math.min(attempt, BACKOFF.length - 1)] ?? 0;
      expect(link.wait(now)).toBe(wait);
      expect(until(10_000)).toEqual(["connect", wait]);
    }
  });

  it("of many pages are spread", () => {
    const waits = [0, 0.5, 1].map((random) => {
      link = new Link(() => random);
      handle({ kind: "start" });
      handle({ kind: "unanswered" });
      return link.wait(now);
    });
    expect(waits).toEqual([375, 500, 625]);
  });

  it("are made at once when the network is back", () => {
    play();
    handle({ kind: "ice", state: "failed" });
    handle({ kind: "unanswered" });
    expect(link.phase).toBe("waiting");
    expect(handle({ kind: "wake" })).toBe("connect");
    expect(handle({ kind: "wake" })).toBe("none");
  });

  it("wait as long as the host asks", () => {
    play();
    handle({ kind: "again" });
    const refused = problem("too-many-requests");
    handle({ kind: "refused", problem: refused, retryAfter: 7000 });
    expect(until(60_000)).toEqual(["connect", 7000]);
  });
});

describe("giving up", () => {
  it("is for refusals that do not pass", () => {
    handle({ kind: "start" });
    expect(handle({ kind: "refused", problem: problem("player-present") })).toBe("close");
    expect([link.phase, link.problem?.code]).toEqual(["failed", "player-present"]);
    expect(until(60_000)[0]).toBe("none");
    expect(handle({ kind: "start" })).toBe("connect");
    expect(link.problem).toBeUndefined();
  });

  it("is not for a full host once there has been a picture", () => {
    handle({ kind: "start" });
    handle({ kind: "refused", problem: problem("host-full") });
    expect(link.phase).toBe("failed");
    play();
    handle({ kind: "again" });
    handle({ kind: "refused", problem: problem("host-full") });
    expect(link.phase).toBe("waiting");
  });

  it("is for UDP that never got through, with the host's ports", () => {
    handle({ kind: "start" });
    handle({ kind: "answered", endpoints: ["10.0.0.1:5000"] });
    const [action, after] = until(60_000);
    expect(action).toBe("close");
    expect(after).toBeGreaterThan(JOIN_LIMIT);
    expect(link.problem?.code).toBe("no-udp");
    expect(link.problem?.message).toContain("UDP port 5000");
  });

  it("names each relay that was no help, since the last offer", () => {
    handle({ kind: "start" });
    handle({ kind: "relay", trouble: relayTrouble("turn:a", 486, "Quota") });
    handle({ kind: "unanswered" });
    until(60_000);
    for (const [url, code] of [
      ["turn:b?transport=udp", 701],
      ["turn:b?transport=udp", 701],
      ["turn:b?transport=tcp", 401],
    ] as const) {
      handle({ kind: "relay", trouble: relayTrouble(url, code, "") });
    }
    handle({ kind: "answered", endpoints: ["10.0.0.1:5000"] });
    until(60_000);
    expect(link.problem?.message).toMatch(
      /UDP port 5000.* A relay was no help: turn:b\?transport=udp does not answer\. A relay was no help: turn:b\?transport=tcp does not take the host's credentials \(401\)[^.]*relay\.secret[^.]*\./,
    );
    expect(link.problem?.message).not.toContain("turn:a");
    expect(link.problem?.message.match(/turn:b\?transport=udp/g)).toHaveLength(1);
  });

  it("is not for UDP that got through before", () => {
    play();
    handle({ kind: "again" });
    handle({ kind: "answered", endpoints: [] });
    until(60_000);
    expect(link.phase).toBe("waiting");
  });
});
