// Hands texts to the worker, the latest first: what is overtaken is not simulated.

import type { Answer, Refusal } from "./answer";
import type { Choices } from "./settings";
import type { Said, Told } from "./simulator.worker";

/** How long a run may keep another one waiting, in ms. */
const PATIENCE = 1_000;

export interface Done {
  readonly text: string;
  readonly answer: Answer | Refusal;
  /** How long the simulator took, in ms. */
  readonly elapsed: number;
}

/** What was packed by gzip, unless the server or the browser has unpacked it on the way. */
async function unpacked(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(bytes, 0, 2);
  if (first !== 0x1f || second !== 0x8b) {
    return bytes;
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export class Simulator {
  readonly #program: WebAssembly.Module;
  readonly #done: (done: Done) => void;
  readonly #chosen: (choices: Choices) => void;
  #worker: Worker;
  #isReady = false;
  #running: string | undefined;
  #next: string | undefined;
  #patience: number | undefined;

  private constructor(
    program: WebAssembly.Module,
    chosen: (choices: Choices) => void,
    done: (done: Done) => void,
  ) {
    this.#program = program;
    this.#chosen = chosen;
    this.#done = done;
    this.#worker = this.#start();
  }

  /** Loads the simulator. `done` gets every answer. */
  static async load(
    address: URL,
    done: (done: Done) => void,
  ): Promise<{ simulator: Simulator; choices: Choices }> {
    const response = await fetch(address);
    if (!response.ok) {
      throw new Error(`${address.pathname}: ${response.status} ${response.statusText}`);
    }
    const program = await WebAssembly.compile(await unpacked(await response.arrayBuffer()));
    return new Promise((resolve) => {
      const simulator = new Simulator(program, (choices) => resolve({ simulator, choices }), done);
    });
  }

  /** Simulates a text, after the one that runs, in place of any that waits. */
  run(text: string): void {
    this.#next = text;
    this.#feed();
    if (this.#next !== undefined && this.#patience === undefined) {
      this.#patience = window.setTimeout(() => this.#restart(), PATIENCE);
    }
  }

  #feed(): void {
    if (this.#isReady && this.#running === undefined && this.#next !== undefined) {
      this.#running = this.#next;
      this.#next = undefined;
      this.#calm();
      this.#worker.postMessage({ text: this.#running } satisfies Told);
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./simulator.worker.ts", import.meta.url), {
      type: "module",
    });
    worker.addEventListener("message", ({ data }: MessageEvent<Said>) => this.#take(data));
    worker.postMessage({ program: this.#program } satisfies Told);
    return worker;
  }

  /** Gives up what runs. */
  #restart(): void {
    this.#calm();
    this.#worker.terminate();
    this.#isReady = false;
    this.#running = undefined;
    this.#worker = this.#start();
  }

  #calm(): void {
    window.clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  #take(said: Said): void {
    if ("choices" in said) {
      this.#isReady = true;
      this.#chosen(said.choices);
    } else {
      const text = this.#running ?? "";
      this.#running = undefined;
      if ("answer" in said) {
        this.#done({ text, answer: said.answer, elapsed: said.elapsed });
      } else {
        const error = `the simulator stopped, which is a mistake of Mimosa's: ${said.failed}`;
        this.#done({ text, answer: { error }, elapsed: 0 });
        this.#restart();
      }
    }
    this.#feed();
  }
}
