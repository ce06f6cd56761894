// Two hosts with an emulated link between them: `mimosa link`.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { BINARY } from "./host";
import { outFile } from "./out";
import { at, type Place, placeBehind } from "./place";

/** The address of the sender's end of every link between two hosts of its own. */
export const SENDER_ADDRESS = "100.64.0.1";

let count = 0;

/** Why there can be no link here; `undefined` where there can. */
export function noLink(): string | undefined {
  try {
    writeFileSync(outFile("try.toml"), '[link]\nrate = "1Mbit/s"\n');
    link("run", outFile("try.toml"), "--isolated", "--quiet", "--", "true");
    return undefined;
  } catch (error) {
    return `needs the rights to emulate a link: ${error}`;
  }
}

/** What `mimosa link status --json` says of a direction. */
export interface Way {
  readonly late_us: Record<"p50" | "p99" | "p999" | "max", number> | null;
  readonly unwritten: number;
  /** Packets that its path has lost. */
  readonly lost: number;
  readonly queues: readonly {
    readonly name: string;
    readonly passed: number;
    readonly dropped: number;
    readonly marked: number;
    readonly bytes: number;
  }[];
}

export class Link {
  readonly sender: Place;
  readonly receiver: Place;
  /** Its packets, once it is down. */
  readonly log: string;
  readonly #name: string;
  #isUp = false;

  /** A link over the network that the TOML text describes. */
  constructor(name: string, network: string) {
    count += 1;
    this.#name = `e2e-${process.pid}-${count}`;
    this.log = outFile(`${name}.link.parquet`);
    const file = outFile(`${name}.toml`);
    writeFileSync(file, network);
    const up = ["link", "up", this.#name, file, "--log", this.log];
    const [program = "", ...rest] = at(placeBehind(BINARY), up);
    execFileSync(program, rest, { stdio: ["ignore", "ignore", "inherit"] });
    this.#isUp = true;
    onTestFinished(() => this.down());
    const side = (end: string) =>
      placeBehind(BINARY, "link", "exec", end, "--name", this.#name, "--");
    this.sender = side("sender");
    this.receiver = side("receiver");
  }

  /** Has the way to the receiver go at this rate from now on. */
  limit(megabits: number): void {
    link("set", this.#name, "--rate", `${megabits}Mbit/s`);
  }

  /** How the way to the receiver stands. */
  status(): Way {
    return this.stand().ways[0];
  }

  /** How both ways stand, there and back, and for how many seconds they have been there. */
  stand(): { readonly seconds: number; readonly ways: readonly [Way, Way] } {
    return JSON.parse(link("status", this.#name, "--json"));
  }

  /** Ends it; its log is whole then. */
  down(): void {
    if (this.#isUp) {
      this.#isUp = false;
      link("down", this.#name);
    }
  }
}

function link(...command: string[]): string {
  return execFileSync(BINARY, ["link", ...command], {
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
}
