// When to connect, when to wait and when to give up: a state machine without a
// clock. The same events at the same times give the same decisions.

import { noUdp, type Problem, type ProblemCode, problem } from "../errors";

/** ICE may be `disconnected` this long before the link counts as broken. */
export const DISCONNECTED_LIMIT = 1000;
/** The host sends several times a second: this long a silence is a break. */
export const SILENCE_LIMIT = 2000;
/**
 * How many times as long, once the host has told further addresses: a browser looks for another way after
 * 2.5 s without an answer (`libwebrtc`), and takes it with its next check.
 */
export const PATIENCE = 4;
/** From the answer until UDP gets through; ICE alone would try much longer. */
export const JOIN_LIMIT = 6000;
/** A decoder that stops again within this time will not be mended by another session. */
export const STALL_MEMORY = 60_000;
/** Waits before each attempt after a break; the last one repeats. */
export const BACKOFF = [0, 500, 1000, 2000, 4000, 5000] as const;

export type LinkEvent =
  /** A person asks for a session. */
  | { readonly kind: "start" }
  /** The host answered the offer; these are its UDP addresses. */
  | { readonly kind: "answered"; readonly endpoints: readonly string[] }
  /** The host said no. */
  | {
      readonly kind: "refused";
      readonly problem: Problem;
      readonly retryAfter?: number | undefined;
    }
  /** The offer got no answer. */
  | { readonly kind: "unanswered" }
  /** A relay is of no use. */
  | { readonly kind: "relay"; readonly trouble: string }
  /** The host can be reached elsewhere as well. */
  | { readonly kind: "elsewhere" }
  | { readonly kind: "ice"; readonly state: RTCIceConnectionState }
  /** Something arrived from the host. */
  | { readonly kind: "alive" }
  /** A frame was shown. */
  | { readonly kind: "picture" }
  /** The host asks for a new session. */
  | { readonly kind: "again" }
  /** The browser has stopped decoding what it receives. */
  | { readonly kind: "stalled" }
  /** The network is back or the page visible: waiting longer is pointless. */
  | { readonly kind: "wake" }
  | { readonly kind: "tick" }
  /** The session ends for good. */
  | { readonly kind: "stop" };

export type Phase =
  | "idle"
  /** The offer is on its way. */
  | "offering"
  /** Answered; UDP has not got through yet. */
  | "joining"
  | "live"
  /** Until the next attempt. */
  | "waiting"
  | "failed"
  | "stopped";

/** What the caller has to do now. */
export type Decision =
  | { readonly action: "none" }
  /** Close what there is and offer anew. */
  | { readonly action: "connect" }
  /** Close what there is. */
  | { readonly action: "close" };

const NONE: Decision = { action: "none" };
const CONNECT: Decision = { action: "connect" };
const CLOSE: Decision = { action: "close" };

/** Refusals that can pass by themselves while a page tries to come back. */
const PASSING: ReadonlySet<ProblemCode> = new Set([
  "host-full",
  "too-many-requests",
  "unreachable",
  "unknown",
]);
/** Refusals that can pass also when the page has never been connected. */
const ALWAYS_PASSING: ReadonlySet<ProblemCode> = new Set(["too-many-requests", "unreachable"]);

export class Link {
  #phase: Phase = "idle";
  #problem: Problem | undefined;
  #cause = "";
  /** Attempts since the last picture. */
  #attempts = 0;
  #reconnects = 0;
  #hasPlayed = false;
  #endpoints: readonly string[] = [];
  /** What was wrong with relays, since the offer. */
  #relay: string[] = [];
  #patience = 1;
  #since = 0;
  #aliveAt = 0;
  #disconnectedAt: number | undefined;
  #stalledAt: number | undefined;
  #retryAt = 0;
  /** 0 to 1; spreads the attempts of many pages after one host's restart. */
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why it failed; only in the phase `failed`. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** What broke or refused last, in words; empty when all is well. */
  get cause(): string {
    return this.#cause;
  }

  /** Breaks and restarts since the page was opened; attempts do not count. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Whether a frame has been shown since the person asked for a session. */
  get hasPlayed(): boolean {
    return this.#hasPlayed;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Milliseconds until the next attempt; 0 unless waiting. */
  wait(now: number): number {
    return this.#phase === "waiting" ? Math.max(0, this.#retryAt - now) : 0;
  }

  handle(now: number, event: LinkEvent): Decision {
    switch (event.kind) {
      case "start":
        this.#attempts = 0;
        this.#hasPlayed = false;
        this.#cause = "";
        this.#stalledAt = undefined;
        return this.#offer(now);
      case "stop":
        this.#enter("stopped", now);
        return CLOSE;
      case "wake":
        return this.#phase === "waiting" ? this.#offer(now) : NONE;
      case "tick":
        return this.#tick(now);
      default:
        return this.#connected(now, event);
    }
  }

  /** Events that only a session under way can have. */
  #connected(now: number, event: LinkEvent): Decision {
    if (this.#phase !== "offering" && this.#phase !== "joining" && this.#phase !== "live") {
      return NONE;
    }
    switch (event.kind) {
      case "elsewhere":
        this.#patience = PATIENCE;
        return NONE;
      case "relay":
        this.#relay.push(event.trouble);
        return NONE;
      case "answered":
        this.#patience = 1;
        this.#endpoints = event.endpoints;
        this.#enter("joining", now);
        return NONE;
      case "refused":
        return this.#refused(now, event.problem, event.retryAfter);
      case "unanswered":
        return this.#retry(now, "The host does not answer");
      case "ice":
        return this.#ice(now, event.state);
      case "alive":
        this.#aliveAt = now;
        return NONE;
      case "picture":
        this.#aliveAt = now;
        this.#hasPlayed = true;
        this.#attempts = 0;
        this.#cause = "";
        return NONE;
      case "again":
        this.#attempts = 0;
        return this.#retry(now, "The host asks for a new connection");
      case "stalled":
        return this.#stalled(now);
      default:
        return NONE;
    }
  }

  #tick(now: number): Decision {
    switch (this.#phase) {
      case "waiting":
        return now >= this.#retryAt ? this.#offer(now) : NONE;
      case "joining":
        return now - this.#since > JOIN_LIMIT ? this.#joinFailed(now) : NONE;
      case "live":
        if (
          this.#disconnectedAt !== undefined &&
          now - this.#disconnectedAt > this.#patience * DISCONNECTED_LIMIT
        ) {
          return this.#retry(now, "The connection was interrupted");
        }
        return now - this.#aliveAt > this.#patience * SILENCE_LIMIT
          ? this.#retry(now, "Nothing arrives any more")
          : NONE;
      default:
        return NONE;
    }
  }

  #ice(now: number, state: RTCIceConnectionState): Decision {
    switch (state) {
      case "connected":
      case "completed":
        this.#disconnectedAt = undefined;
        this.#aliveAt = now;
        if (this.#phase !== "live") {
          this.#enter("live", now);
        }
        return NONE;
      case "disconnected":
        this.#disconnectedAt ??= now;
        return NONE;
      case "failed":
        return this.#phase === "live"
          ? this.#retry(now, "The connection failed")
          : this.#joinFailed(now);
      default:
        return NONE;
    }
  }

  /** HTTP got through and UDP did not. */
  #joinFailed(now: number): Decision {
    return this.#hasPlayed
      ? this.#retry(now, "UDP does not get through")
      : this.#fail(now, noUdp(this.#endpoints, this.#relay));
  }

  /** Another session has another decoder. */
  #stalled(now: number): Decision {
    const before = this.#stalledAt;
    this.#stalledAt = now;
    return before !== undefined && now - before < STALL_MEMORY
      ? this.#fail(now, problem("no-decode"))
      : this.#retry(now, "This browser stopped decoding the picture");
  }

  #refused(now: number, problem: Problem, retryAfter: number | undefined): Decision {
    const passing = this.#hasPlayed ? PASSING : ALWAYS_PASSING;
    return passing.has(problem.code)
      ? this.#retry(now, problem.title, retryAfter)
      : this.#fail(now, problem);
  }

  #fail(now: number, problem: Problem): Decision {
    this.#problem = problem;
    this.#enter("failed", now);
    return CLOSE;
  }

  #retry(now: number, cause: string, atLeast = 0): Decision {
    const step = BACKOFF[Math.min(this.#attempts, BACKOFF.length - 1)] ?? 0;
    const wait = Math.max(atLeast, step * (0.75 + 0.5 * this.#random()));
    this.#cause = cause;
    if (this.#hasPlayed && this.#attempts === 0) {
      this.#reconnects += 1;
    }
    if (wait === 0) {
      return this.#offer(now);
    }
    this.#enter("waiting", now);
    this.#retryAt = now + wait;
    return CLOSE;
  }

  #offer(now: number): Decision {
    this.#attempts += 1;
    this.#relay = [];
    this.#disconnectedAt = undefined;
    this.#enter("offering", now);
    return CONNECT;
  }

  #enter(phase: Phase, now: number): void {
    this.#phase = phase;
    this.#since = now;
    if (phase !== "failed") {
      this.#problem = undefined;
    }
  }
}
