// A host for one test: on free ports, with settings of its own, gone at the end.

import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { outFile, ROOT } from "./out";
import { at, type Place } from "./place";
import { until } from "./wait";

/** Relative paths are those of the repository. */
export const BINARY = resolve(ROOT, process.env.MIMOSA ?? "target/debug/mimosa");
/** Pictures that a browser without a graphics processor has time for. */
export const SMALL = ["--size", "640x360"] as const;
/** It ends its sessions and what it launched; above this it hangs. */
const STOP_LIMIT = 15_000;

export interface HostOptions {
  /** Names its log and its recordings in out/e2e. */
  readonly name: string;
  readonly args?: readonly string[];
  /** Whether it wants tokens, as it does by default; without this only where others reach it. */
  readonly guarded?: boolean;
  /** Whether it prints on a terminal, where it shows PINs. */
  readonly terminal?: boolean;
  /** Which of its connections are encrypted; none, where that is not what is tested. */
  readonly tls?: "auto" | "on" | "off";
  /** Whether it leaves things away on a busy machine, as most tests find one; by default not. */
  readonly relieves?: boolean;
  /** Where it runs, if not here. */
  readonly place?: Place;
}

export class Host {
  readonly play: string;
  readonly watch: string;
  /** The owner's URL; empty on a host that asks nobody for a token. */
  readonly own: string;
  /** All URLs to play. */
  readonly plays: readonly string[];
  /** Where its recordings are. */
  readonly records: string;
  /** Where it keeps its key, its certificate and its devices. */
  readonly state: string;
  #asked = false;
  readonly #child: ChildProcess;
  readonly #printed: () => string;
  readonly #log: () => string;

  constructor(
    child: ChildProcess,
    all: () => string,
    log: () => string,
    folders: { records: string; state: string },
  ) {
    this.#child = child;
    this.#printed = all;
    this.#log = log;
    this.records = folders.records;
    this.state = folders.state;
    const printed = all();
    const urls = (kind: string) =>
      [...printed.matchAll(new RegExp(`^${kind}\\s+(http\\S+)$`, "gm"))].map((match) => match[1]);
    this.plays = urls("play").filter((url) => url !== undefined);
    this.play = this.plays[0] ?? "";
    this.watch = urls("watch")[0] ?? "";
    this.own = urls("own")[0] ?? "";
  }

  /** Everything it has logged, which does not include the URLs that it printed. */
  get log(): string {
    return this.#log();
  }

  /** All that it has printed, with URLs and PINs. */
  get printed(): string {
    return this.#printed();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** An address of the host's, without token. */
  at(path: string): string {
    const url = new URL(path, this.play);
    url.hash = "";
    return url.href;
  }

  /** The finished recordings, oldest first. */
  recordings(): string[] {
    if (!existsSync(this.records)) {
      return [];
    }
    const names = readdirSync(this.records).filter((name) => name.endsWith(".parquet"));
    return names.sort().map((name) => join(this.records, name));
  }

  /** Waits for it to end by itself; gives its exit code. */
  async ended(): Promise<number | null> {
    this.#asked = true;
    await until("the host ends by itself", () => !this.running);
    return this.#child.exitCode;
  }

  /** Asks it to stop, as Ctrl-C does; gives its exit code. */
  async stop(): Promise<number | null> {
    if (!this.#asked && !this.running) {
      const { exitCode, signalCode } = this.#child;
      throw new Error(`the host ended by itself (${exitCode ?? signalCode}):\n${this.log}`);
    }
    this.#asked = true;
    if (this.running) {
      this.#child.kill("SIGTERM");
      await until("the host stops", () => !this.running, STOP_LIMIT).catch((error) => {
        this.#child.kill("SIGKILL");
        throw error;
      });
    }
    return this.#child.exitCode;
  }
}

/**
 * The lines of a log that warn or tell of errors, but for the warning that a host run by root
 * begins with: these tests may be run by root.
 */
export function troubles(log: string): string[] {
  const lines = log.split("\n").filter((line) => /WARN|ERROR|panicked/.test(line));
  return lines.filter((line) => !line.includes("running as root"));
}

/** Starts a host that lives until the test has ended. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { name, args = [], tls = "off", place, terminal } = options;
  const { guarded = args.includes("--bind"), relieves = false } = options;
  if (!existsSync(BINARY)) {
    throw new Error(
      `${BINARY} is missing: cargo build -p mimosa-cli --features x264, or name another in MIMOSA`,
    );
  }
  const settings = mkdtempSync(join(tmpdir(), "mimosa-e2e-"));
  const records = outFile(`${name}.records`);
  rmSync(records, { recursive: true, force: true });
  const free = ["--http-port", "0", "--udp-port", "0", "--record", records];
  const open = guarded ? [] : ["--token", "off"];
  const words = [BINARY, "serve", "--no-open", ...free, ...open, ...args];
  // Gives a command a terminal.
  const typed = words.map((word) => `'${word}'`).join(" ");
  const run = terminal ? ["script", "-qefc", `exec ${typed} 2>&3`, "/dev/null"] : words;
  const [command = "", ...rest] = at(place, run);
  const child = spawn(command, rest, {
    cwd: ROOT,
    env: {
      ...ownEnvironment(),
      MIMOSA_TLS: tls,
      MIMOSA_RELIEF: relieves ? "adaptive" : "off",
      XDG_CONFIG_HOME: settings,
      XDG_STATE_HOME: settings,
      NO_COLOR: "1",
    },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let printed = "";
  let log = "";
  const file = createWriteStream(outFile(`${name}.log`));
  child.stdout?.on("data", (data) => {
    printed += data;
  });
  for (const stream of [child.stderr, child.stdio[3] as Readable | null]) {
    stream?.on("data", (data) => {
      log += data;
      file.write(data);
    });
  }
  child.on("error", (error) => {
    log += error;
  });
  let host: Host | undefined;
  onTestFinished(async () => {
    try {
      await host?.stop();
    } finally {
      child.kill("SIGKILL");
      file.end();
      rmSync(settings, { recursive: true, force: true });
    }
  });
  await until(`the host ${name} prints where it is`, () => {
    if (child.exitCode !== null) {
      throw new Error(`the host did not start (${child.exitCode}):\n${log}`);
    }
    return /^watch\s/m.test(printed);
  });
  const folders = { records, state: join(settings, "mimosa") };
  host = new Host(
    child,
    () => printed,
    () => log,
    folders,
  );
  return host;
}

/** Without the settings of whoever runs the tests. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("MIMOSA"));
  return Object.fromEntries(kept);
}
