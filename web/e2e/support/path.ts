// Two network namespaces with a cable between them, which can be cut.

import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { type Place, placeBehind } from "./place";
import { LIVENESS } from "./wait";

/** Any two of one network: the namespaces are on no other (RFC 5737, TEST-NET-2). */
export const HOST_ADDRESS = "198.51.100.1";
const SECOND_ADDRESS = "198.51.100.5";
const BROWSER_ADDRESS = "198.51.100.2";

let count = 0;

/** Why there can be no namespaces here; `undefined` where there can. */
export function noPath(): string | undefined {
  const name = `mimosa-try-${process.pid}`;
  try {
    run("ip", "netns", "add", name);
    run("ip", "netns", "delete", name);
    run("nft", "--version");
    return undefined;
  } catch (error) {
    return `needs root, network namespaces, iproute2 and nftables: ${error}`;
  }
}

export class Path {
  readonly host: Place;
  readonly browser: Place;
  readonly #host: string;
  readonly #browser: string;

  constructor() {
    count += 1;
    const name = `mimosa-${process.pid}-${count}`;
    this.#host = `${name}-h`;
    this.#browser = `${name}-b`;
    this.host = placeBehind("ip", "netns", "exec", this.#host);
    this.browser = placeBehind("ip", "netns", "exec", this.#browser);
    onTestFinished(() => this.#remove());
    for (const namespace of [this.#host, this.#browser]) {
      run("ip", "netns", "add", namespace);
      run("ip", "-n", namespace, "link", "set", "lo", "up");
    }
    const ends = ["name", "cable", "netns", this.#host, "type", "veth"];
    run("ip", "link", "add", ...ends, "peer", "name", "cable", "netns", this.#browser);
    this.#end(this.#host, HOST_ADDRESS, BROWSER_ADDRESS);
    this.#end(this.#browser, BROWSER_ADDRESS, HOST_ADDRESS);
    this.#waitUntilUp();
  }

  /** Drops all UDP, both ways; TCP passes. */
  cutUdp(): void {
    const rules = ["input", "output"].map(
      (hook) =>
        `add chain inet cut ${hook} { type filter hook ${hook} priority 0; }; ` +
        `add rule inet cut ${hook} meta l4proto udp drop`,
    );
    this.#nft(["add table inet cut", ...rules].join("; "));
  }

  /**
   * Drops UDP between host and browser, at all of the host's ports or at one; what either sends to itself passes.
   */
  cutUdpBetween(port?: number): void {
    const rules = [
      ["input", "iifname", "dport"],
      ["output", "oifname", "sport"],
    ].map(
      ([hook, name, end]) =>
        `add chain inet cut ${hook} { type filter hook ${hook} priority 0; }; ` +
        `add rule inet cut ${hook} ${name} "cable" ` +
        `${port ? `udp ${end} ${port}` : "meta l4proto udp"} drop`,
    );
    this.#nft(["add table inet cut", ...rules].join("; "));
  }

  /** Gives the host a second address, for which the browser has a route. */
  addSecond(): void {
    run("ip", "-n", this.#browser, "route", "add", SECOND_ADDRESS, "dev", "cable");
    run("ip", "-n", this.#host, "address", "add", `${SECOND_ADDRESS}/32`, "dev", "cable");
  }

  /** Takes the host's first address away, and leaves it the way to the browser. */
  removeFirst(): void {
    run("ip", "-n", this.#host, "address", "delete", `${HOST_ADDRESS}/30`, "dev", "cable");
    run("ip", "-n", this.#host, "route", "replace", BROWSER_ADDRESS, "dev", "cable");
  }

  /** Drops everything, both ways. */
  cut(): void {
    run("ip", "-n", this.#host, "link", "set", "cable", "down");
  }

  /** As before the cut. */
  mend(): void {
    this.#nft("add table inet cut; delete table inet cut");
    run("ip", "-n", this.#host, "link", "set", "cable", "up");
    // Goes with the link.
    run("ip", "-n", this.#host, "route", "replace", "default", "via", BROWSER_ADDRESS);
  }

  #end(namespace: string, own: string, other: string): void {
    // An address of IPv6 would come later, and change the browser's network.
    run("ip", "-n", namespace, "link", "set", "cable", "addrgenmode", "none");
    run("ip", "-n", namespace, "address", "add", `${own}/30`, "dev", "cable");
    run("ip", "-n", namespace, "link", "set", "cable", "up");
    // A browser without a default route has no candidates.
    run("ip", "-n", namespace, "route", "add", "default", "via", other);
  }

  /**
   * The kernel calls a link up a moment after its two ends are. A browser that
   * begins before then finds no network, and does not look again.
   */
  #waitUntilUp(): void {
    const isUp = (namespace: string) => {
      const [link] = JSON.parse(run("ip", "-n", namespace, "-json", "link", "show", "cable"));
      return link.operstate === "UP";
    };
    const end = performance.now() + LIVENESS;
    while (![this.#host, this.#browser].every(isUp)) {
      if (performance.now() > end) {
        throw new Error("the cable between the namespaces does not come up");
      }
    }
  }

  #nft(rules: string): void {
    run("ip", "netns", "exec", this.#host, "nft", rules);
  }

  #remove(): void {
    for (const namespace of [this.#host, this.#browser]) {
      try {
        run("ip", "netns", "delete", namespace);
      } catch {
        // It was never there.
      }
    }
  }
}

function run(...command: string[]): string {
  const [program = "", ...rest] = command;
  return execFileSync(program, rest, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
}
