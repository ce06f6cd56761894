// From the sliders to the text of a scenario: docs/use/simulation.md has its keys.

import type { Settings } from "./settings";

/** Bytes of a packet with its headers, by which limits in packets are counted. */
const PACKET = 1_500;
/** The highest target of a stream, in Mbit/s, which is above every link's rate. */
const MOST = 200;

/** The text of the scenario that the sliders describe. */
export function toToml(settings: Settings): string {
  const { duration, seed, second, place, hop, neighbours } = settings;
  const isBeside = second !== "" && place === "beside";
  const isCompared = second !== "" && place === "alone" && second !== settings.controller;
  const queue = queueOf(settings);
  const parts = [
    "# Made by Mimosa's playground.",
    `duration = "${duration}s"`,
    `seed = ${seed}`,
    "",
    "[link]",
    ...rates(settings),
    `one_way_delay = "${settings.rtt / 2}ms"`,
    `queue = ${queue}`,
  ];
  if (settings.jitter > 0) {
    const [deviation, most] = [settings.jitter, settings.jitter * 3];
    parts.push(`jitter = { kind = "normal", deviation = "${deviation}ms", most = "${most}ms" }`);
  }
  if (settings.loss > 0) {
    parts.push(`loss = ${Number((settings.loss / 100).toFixed(4))}`);
  }
  if (hop !== "cable") {
    const others = neighbours > 0 ? `, neighbour = [{ count = ${neighbours} }]` : "";
    parts.push(
      "",
      "[[link.next]]",
      `medium = { kind = "wifi", standard = "${hop}"${others} }`,
      `queue = ${queue}`,
    );
  }
  parts.push("", ...video("game", settings.controller, settings));
  if (isBeside) {
    parts.push("", ...video("other", second, settings));
  }
  if (settings.tcp !== "") {
    parts.push("", "[[flow]]", 'name = "tcp"', 'kind = "tcp"', `controller = "${settings.tcp}"`);
  }
  if (isCompared) {
    parts.push("", "[[variant]]", `name = "${settings.controller}"`);
    parts.push("", "[[variant]]", `name = "${second}"`, `flow.controller = "${second}"`);
  }
  return `${parts.join("\n")}\n`;
}

function rates({ rate, middle, duration }: Settings): string[] {
  if (middle === 100) {
    return [`rate = "${rate}Mbit/s"`];
  }
  const kbps = Math.round(rate * middle * 10);
  const third = (part: number) => `${Math.round((duration * 1000 * part) / 3)}ms`;
  return [
    "steps = [",
    `  { at = "0s", rate = "${rate}Mbit/s" },`,
    `  { at = "${third(1)}", rate = "${kbps}kbit/s" },`,
    `  { at = "${third(2)}", rate = "${rate}Mbit/s" },`,
    "]",
  ];
}

/** Queues other than drop-tail have their room in packets, at the rate of the link's first third. */
function queueOf({ queue, buffer, rate }: Settings): string {
  if (queue === "droptail") {
    return `{ kind = "droptail", limit = "${buffer}ms" }`;
  }
  const bytes = (rate * 1e6 * buffer) / 8e3;
  if (queue === "dualpi2") {
    return `{ kind = "dualpi2", limit = "${Math.max(2 * PACKET, Math.round(bytes))}B" }`;
  }
  return `{ kind = "${queue}", limit = "${Math.max(2, Math.round(bytes / PACKET))}packets" }`;
}

function video(name: string, controller: string, { ecn }: Settings): string[] {
  return [
    "[[flow]]",
    `name = "${name}"`,
    `controller = "${controller}"`,
    `max_bitrate = "${MOST}Mbit/s"`,
    ...(ecn === "" ? [] : ['ecn = "auto"', 'feedback = "rfc8888"']),
  ];
}
