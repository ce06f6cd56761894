// A game that does as it is told (crates/platform/x11/src/bin/x11-puppet.rs).

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { family } from "./browser";
import { BINARY } from "./host";
import { outFile } from "./out";

const PROGRAM = join(dirname(BINARY), "x11-puppet");

export class Puppet {
  /** What starts it, for a shell. */
  readonly command: string;
  readonly #file: string;

  constructor(name: string) {
    if (!existsSync(PROGRAM)) {
      throw new Error(`${PROGRAM} is missing: cargo test -p mimosa-x11 --no-run`);
    }
    this.#file = outFile(`${name}.told`);
    writeFileSync(this.#file, "");
    this.command = `exec '${PROGRAM}' '${this.#file}'`;
  }

  /** Has it do something else than before. */
  tell(command: string): void {
    writeFileSync(this.#file, `${command}\n`);
  }

  /** The next one of its kind is told nothing. */
  forget(): void {
    writeFileSync(this.#file, "");
  }
}

/** The processes of this name that a process has started. */
export function started(pid: number, name: string): number[] {
  const isIt = (one: number) => {
    try {
      return readFileSync(`/proc/${one}/comm`, "utf8").trim() === name;
    } catch {
      return false;
    }
  };
  return family(pid).filter(isIt);
}

/** Ends a process at once, and without its doing. */
export function strike(pid: number | undefined): void {
  execFileSync("kill", ["-KILL", `${pid}`]);
}
