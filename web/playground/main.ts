// The playground: sliders or a text in, plots and figures out.

import { element, setText } from "../src/ui/dom";
import type { Answer, Refusal } from "./answer";
import { Controls } from "./controls";
import { draw, type Plot } from "./plot";
import { delays, flows, queues, rates, shares } from "./plots";
import { toToml } from "./scenario";
import { fromFragment, type Held, toFragment } from "./settings";
import { type Done, Simulator } from "./simulator";
import { fill, speed, swatch } from "./table";

/** How long an edited text rests before it is simulated, in ms. */
const PAUSE = 250;

declare global {
  interface Window {
    /** What the page shows, for tests. */
    playground: { shown?: Done & { answer: Answer }; last?: Done };
  }
}

const [first, text, error] = [
  element("first"),
  element<HTMLTextAreaElement>("toml"),
  element("error"),
];
const plots = ["rates", "delays", "shares", "queues"].map((id) => element<HTMLCanvasElement>(id));

window.playground = {};
let drawings: Plot[] = [];

function paint(): void {
  drawings.forEach((plot, index) => {
    const canvas = plots[index];
    if (canvas) {
      draw(canvas, plot);
    }
  });
}

function isRefusal(answer: Answer | Refusal): answer is Refusal {
  return "error" in answer;
}

function refuse(words: string): void {
  document.body.dataset.state = "failed";
  error.hidden = false;
  setText(error, words);
}

function show(done: Done): void {
  window.playground.last = done;
  const { answer } = done;
  if (isRefusal(answer)) {
    refuse(answer.error);
    return;
  }
  window.playground.shown = { ...done, answer };
  document.body.dataset.state = "ready";
  error.hidden = true;
  const drawn = flows(answer);
  drawings = [rates(answer, drawn), delays(answer, drawn), shares(drawn), queues(answer, drawn)];
  paint();
  const names = drawn.map(({ label, color, isDashed }) => {
    const item = document.createElement("li");
    const mark = swatch(color);
    mark.classList.toggle("dashed", isDashed);
    item.append(mark, label);
    return item;
  });
  const link = document.createElement("li");
  const mark = swatch("--link");
  mark.classList.add("dashed");
  link.append(mark, "link");
  element("legend").replaceChildren(...names, link);
  fill(element<HTMLTableElement>("table"), drawn);
  setText(element("speed"), [speed(answer, done.elapsed), ...answer.notes].join(" "));
}

function play(simulator: Simulator, controls: Controls, read: () => Held): void {
  let held: Held;
  let pause: number | undefined;

  /** Takes what is held to be simulated, and into the page's address. */
  const hold = (next: Held) => {
    held = next;
    const toml = held.text ?? toToml(held.settings);
    if (text.value !== toml) {
      text.value = toml;
    }
    element("edited").hidden = held.text === undefined;
    element<HTMLFieldSetElement>("sliders").disabled = held.text !== undefined;
    const fragment = toFragment(held);
    history.replaceState(null, "", fragment === "" ? location.pathname : `#${fragment}`);
    simulator.run(toml);
  };
  const begin = () => {
    const said = read();
    controls.settings = said.settings;
    element<HTMLDetailsElement>("text").open ||= said.text !== undefined;
    hold(said);
  };

  element("controls").addEventListener("submit", (event) => event.preventDefault());
  element("controls").addEventListener("input", () => {
    hold({ settings: controls.settings, text: undefined });
  });
  text.addEventListener("input", () => {
    window.clearTimeout(pause);
    pause = window.setTimeout(() => hold({ ...held, text: text.value }), PAUSE);
  });
  element("reset").addEventListener("click", () => hold({ ...held, text: undefined }));
  element("copy").addEventListener("click", async () => {
    const button = element("copy");
    try {
      await navigator.clipboard.writeText(location.href);
      setText(button, "Copied");
    } catch {
      setText(button, "Copy it from the address");
    }
    window.setTimeout(() => setText(button, "Copy link"), 2_000);
  });
  window.addEventListener("hashchange", begin);
  begin();
}

new ResizeObserver(paint).observe(first);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

try {
  const address = new URL("simulator.wasm.gz", document.baseURI);
  const { simulator, choices } = await Simulator.load(address, show);
  const controls = new Controls(element("sliders"), choices, () => {});
  play(simulator, controls, () => fromFragment(location.hash, choices));
} catch (error) {
  refuse(`the simulator does not load: ${error instanceof Error ? error.message : error}`);
}
