// The simulator in a thread of its own, so that the page stays quick.

import type { Answer, Refusal } from "./answer";
import type { Choices } from "./settings";

/** What the page tells the worker: first the program, then one text after another. */
export type Told = { readonly program: WebAssembly.Module } | { readonly text: string };

/** What the worker tells the page. */
export type Said =
  | { readonly choices: Choices }
  | { readonly answer: Answer | Refusal; readonly elapsed: number }
  | { readonly failed: string };

/** The functions of crates/embed/playground/src/ffi.rs. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  mimosa_allocate(length: number): number;
  mimosa_release(block: number, length: number): void;
  mimosa_simulate(block: number, length: number): number;
  mimosa_choices(): number;
}

let simulator: Exports | undefined;

function say(said: Said): void {
  (postMessage as (message: Said) => void)(said);
}

/** The text of an answer, which is released. */
function read({ memory, mimosa_release }: Exports, answer: number): string {
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length));
  mimosa_release(answer, 4 + length);
  return text;
}

function simulate(exports: Exports, text: string): Said {
  const bytes = new TextEncoder().encode(text);
  const block = exports.mimosa_allocate(bytes.length);
  new Uint8Array(exports.memory.buffer, block, bytes.length).set(bytes);
  const begun = performance.now();
  const answer = exports.mimosa_simulate(block, bytes.length);
  const elapsed = performance.now() - begun;
  return { answer: JSON.parse(read(exports, answer)), elapsed };
}

addEventListener("message", async ({ data }: MessageEvent<Told>) => {
  try {
    if ("program" in data) {
      const { exports } = await WebAssembly.instantiate(data.program);
      simulator = exports as unknown as Exports;
      say({ choices: JSON.parse(read(simulator, simulator.mimosa_choices())) });
    } else if (simulator) {
      say(simulate(simulator, data.text));
    }
  } catch (error) {
    // What panics cannot go on.
    say({ failed: String(error) });
  }
});
