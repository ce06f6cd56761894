// Debian's Firefox for one test, with a profile of its own, and the page in it. It is driven by
// WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/): Playwright drives only a Firefox that
// it has changed.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { family } from "./browser";
import { outFile } from "./out";
import { at, type Place } from "./place";
import { listen, type Tab } from "./probe";
import { LIVENESS, until } from "./wait";

const FIREFOX = process.env.FIREFOX ?? "firefox-esr";
const RELAY = fileURLToPath(new URL("relay.mjs", import.meta.url));
const VIEW = { width: 1280, height: 720 };

/** From Node.js 22 on WebSocket needs no flag. */
const FLAGS = "WebSocket" in globalThis ? [] : ["--experimental-websocket"];
/** The plugin for H.264 would be downloaded after the start: it is never there. */
const PREFERENCES = 'user_pref("media.gmp-manager.updateEnabled", false);\n';

/** A message of the protocol: an answer to the command `id`, or an event. */
interface Message {
  readonly type: "success" | "error" | "event";
  readonly id?: number;
  readonly result?: Result;
  readonly error?: string;
  readonly message?: string;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly type?: string; readonly text?: string };
}

/** What a script comes to. */
interface Value {
  readonly value?: unknown;
  /** Of an element. */
  readonly sharedId?: string;
}

/** The parts of commands' results that are read here. */
interface Result {
  readonly contexts?: readonly { readonly context: string }[];
  readonly data?: string;
  readonly result?: Value;
  readonly exceptionDetails?: { readonly text: string };
}

/** The connection to one browser. */
class Wire {
  /** What the pages complained about. */
  readonly complaints: string[] = [];
  readonly #relay: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #count = 0;

  constructor(address: string, place: Place | undefined) {
    const [program = "", ...rest] = at(place, [process.execPath, ...FLAGS, RELAY, address]);
    this.#relay = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
    if (this.#relay.stdout) {
      createInterface({ input: this.#relay.stdout }).on("line", (line) => {
        this.#take(JSON.parse(line));
      });
    }
    // What cannot be written gets no answer.
    this.#relay.stdin?.on("error", () => {});
    this.#relay.on("exit", () => {
      for (const answer of this.#waiting.values()) {
        answer({ type: "error", error: "the browser is gone" });
      }
    });
  }

  async command(method: string, params: object): Promise<Result> {
    this.#count += 1;
    const id = this.#count;
    const answer = await new Promise<Message>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#relay.stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
      setTimeout(resolve, LIVENESS, { type: "error", error: "no answer" }).unref();
    });
    this.#waiting.delete(id);
    if (answer.type === "error") {
      throw new Error(`${method}: ${answer.error} ${answer.message ?? ""}`);
    }
    return answer.result ?? {};
  }

  close(): void {
    this.#relay.kill("SIGKILL");
  }

  #take(message: Message): void {
    const { level, type, text = "" } = message.params ?? {};
    const isError = message.method === "log.entryAdded" && type === "javascript";
    // What Firefox itself says of a connection, the page's state says as well.
    if (isError && level === "error" && !text.startsWith("WebRTC: ")) {
      this.complaints.push(text);
    }
    this.#waiting.get(message.id ?? 0)?.(message);
  }
}

/** The browser's one tab. */
export class FirefoxTab implements Tab {
  readonly #wire: Wire;
  readonly #context: string;

  constructor(wire: Wire, context: string) {
    this.#wire = wire;
    this.#context = context;
  }

  /** The page at this address, not playing yet. */
  async open(url: string): Promise<void> {
    await this.#wire.command("browsingContext.navigate", {
      context: this.#context,
      url,
      wait: "complete",
    });
    await until("the page is there", () => this.evaluate(() => window.mimosa !== undefined));
  }

  async evaluate<T>(code: () => T | Promise<T>): Promise<T> {
    const { value } = await this.#script(`(async () => JSON.stringify(await (${code})()))()`);
    return JSON.parse(typeof value === "string" ? value : "null");
  }

  /** Clicks as a hand does, again where the page has put another element in the place meanwhile. */
  async click(selector: string): Promise<void> {
    const quoted = JSON.stringify(selector);
    await this.#script(`window.clicked = false;
      document.addEventListener("click", ({ target }) => {
        window.clicked ||= target.closest(${quoted}) !== null;
      }, { capture: true });`);
    await until(`${selector} is clicked`, async () => {
      const { value, sharedId } = await this.#script(`window.clicked ||
        [document.querySelector(${quoted})].find((element) => element?.checkVisibility())`);
      if (sharedId !== undefined) {
        await this.#press(sharedId);
      }
      return value === true;
    });
  }

  async #press(sharedId: string): Promise<void> {
    const origin = { type: "element", element: { sharedId } };
    const actions = [
      { type: "pointerMove", x: 0, y: 0, origin },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    try {
      await this.#wire.command("input.performActions", {
        context: this.#context,
        actions: [{ type: "pointer", id: "mouse", actions }],
      });
    } catch (error) {
      // It has gone meanwhile.
      if (!/no such|out of bounds/.test(`${error}`)) {
        throw error;
      }
    }
  }

  /** A picture of the page in out/e2e. */
  async screenshot(name: string): Promise<void> {
    const { data = "" } = await this.#wire.command("browsingContext.captureScreenshot", {
      context: this.#context,
    });
    writeFileSync(outFile(`${name}.png`), Buffer.from(data, "base64"));
  }

  async #script(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.#wire.command("script.evaluate", {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (!result) {
      throw new Error(exceptionDetails?.text);
    }
    return result;
  }
}

/** Starts a Firefox that lives until the test has ended, here or in a place. */
export async function startFirefox(place?: Place): Promise<FirefoxTab> {
  const profile = mkdtempSync(join(tmpdir(), "mimosa-e2e-"));
  writeFileSync(join(profile, "user.js"), PREFERENCES);
  const flags = ["--headless", "--profile", profile, "--remote-debugging-port", "0"];
  const [program = "", ...rest] = at(place, [FIREFOX, ...flags]);
  const child = spawn(program, rest, {
    // Elsewhere it would leave a list of its profiles.
    env: { ...process.env, HOME: profile },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = once(child, "exit").catch(() => {});
  let printed = "";
  child.stderr.on("data", (data) => {
    printed += data;
  });
  child.on("error", (error) => {
    printed += error;
  });
  let wire: Wire | undefined;
  onTestFinished(async () => {
    wire?.close();
    // Its processes end after it, and write into the profile until then.
    for (const pid of child.exitCode === null ? family(child.pid ?? 0) : []) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It went with its parent.
      }
    }
    await exit;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    if (wire && wire.complaints.length > 0) {
      throw new Error(`errors in the page:\n${wire.complaints.join("\n")}`);
    }
  });
  const address = await until("Firefox prints where it listens", () => {
    if (child.exitCode !== null || child.pid === undefined) {
      throw new Error(`Firefox did not start (${child.exitCode}):\n${printed}`);
    }
    return /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(printed)?.[1];
  });
  wire = new Wire(`${address}/session`, place);
  await wire.command("session.new", { capabilities: {} });
  await wire.command("session.subscribe", { events: ["log.entryAdded"] });
  await wire.command("script.addPreloadScript", { functionDeclaration: `${listen}` });
  const { contexts = [] } = await wire.command("browsingContext.getTree", {});
  const context = contexts[0]?.context ?? "";
  await wire.command("browsingContext.setViewport", { context, viewport: VIEW });
  return new FirefoxTab(wire, context);
}
