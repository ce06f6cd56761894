// What the statistics say, line by line.

import type { ClientSound, Hello, Stages, Statistics } from "../session/messages";
import type { Measured } from "./client";
import { decisionRows } from "./decision";
import {
  count,
  decimal,
  gigabytesAnHour,
  join,
  megabits,
  percent,
  type Row,
  seconds,
  UNKNOWN,
} from "./text";

/** A part of the way from the game to the screen, in milliseconds. */
export interface Part {
  readonly name: string;
  /** Null where the host does not know it. */
  readonly value: number | null;
}

export interface Sources {
  readonly hello: Hello | undefined;
  readonly statistics: Statistics | undefined;
  readonly measured: Measured | undefined;
  /** Frames that this page has seen shown. */
  readonly shown: number;
}

/** Parts and total may differ by this much, in milliseconds, for being rounded apart. */
const ROUNDING = 0.3;
const STAGES = ["capture", "encode", "pace", "network", "decode", "present"] as const;

export function rows({ hello, statistics, measured, shown }: Sources): Row[] {
  const frames = statistics?.frames;
  const client = measured?.client;
  const sound = client?.sound;
  return [
    {
      label: "Picture",
      value: join(
        measured?.width && measured.height ? `${measured.width}×${measured.height}` : UNKNOWN,
        `${count(measured?.framesPerSecond)} fps`,
        `quantiser ${decimal(statistics?.quantiser)}`,
      ),
      title: "Resolution and frames per second as received; the encoder's quantiser",
    },
    {
      label: "Host frames",
      value: join(
        `${count(frames?.captured)} captured`,
        `${count(frames?.encoded)} encoded`,
        `${count(frames?.skipped)} skipped`,
        `${count(frames?.acknowledged)} arrived`,
        `${count(frames?.keyframes)} key`,
      ),
      title: "Since the session's start; arrived: acknowledged by this page",
    },
    {
      label: "Page frames",
      value: join(
        `${count(client?.received)} received`,
        `${count(client?.decoded)} decoded`,
        `${count(client?.dropped)} dropped`,
        `${count(shown)} shown`,
      ),
      title: "Since the session's start, as this browser counts",
    },
    {
      label: "Bitrate",
      value: join(
        `${megabits(statistics?.bitrate)} of ${megabits(statistics?.target)} Mbit/s target`,
        ...(typeof statistics?.limit === "number" ? [`at most ${megabits(statistics.limit)}`] : []),
      ),
      title: "Sent, what the controller allows, and what your settings for data do",
    },
    {
      label: "Data",
      value: `${gigabytesAnHour(carried(statistics))} GB an hour`,
      title:
        "What an hour of the last second's picture and sound is, headers included; packets that repeat or repair others come on top",
    },
    ...(statistics?.relief ? [reliefRow(statistics.relief)] : []),
    ...decisionRows(statistics),
    {
      label: "Frame delay",
      value: `${join(
        `p50 ${decimal(statistics?.delay?.p50)}`,
        `p95 ${decimal(statistics?.delay?.p95)}`,
        `p99 ${decimal(statistics?.delay?.p99)}`,
      )} ms`,
      title: "From the pacer to the acknowledgement, over the last ten seconds",
    },
    ...(sound ? [soundRow(sound, statistics)] : []),
    {
      label: "Network",
      value: join(
        `rtt ${decimal(statistics?.rtt)} ms`,
        `loss ${percent(statistics?.loss)}`,
        `${count(client?.packets_lost)} lost`,
        `${count(statistics?.retransmissions)} resent`,
      ),
      title: "Round trip, share of lost packets, packets this browser misses, retransmissions",
    },
    {
      label: "Stalls",
      value: join(
        `${count(statistics?.stalls)} above 100 ms`,
        `${count(client?.freezes)} freezes (${seconds(client?.freeze_duration)} s)`,
      ),
      title: "Frames late by more than 100 ms, and pauses of the picture this browser counts",
    },
    {
      label: "Feedback",
      value: join(
        statistics?.feedback ?? hello?.feedback ?? UNKNOWN,
        `${count(statistics?.reports)} reports`,
        `controller ${hello?.controller ?? UNKNOWN}`,
        `${count(statistics?.viewers)} watching`,
      ),
      title: "How the host learns what arrived, and which controller uses it",
    },
    {
      label: "Codecs",
      value: join(
        hello?.codec || UNKNOWN,
        `encoder ${hello?.encoder ?? UNKNOWN}`,
        `decoder ${client?.decoder ?? UNKNOWN}${measured?.powerEfficient ? " (hardware)" : ""}`,
        `buffer ${decimal(client?.jitter_buffer)} ms`,
      ),
      title:
        "What the picture is sent as, the host's encoder, this browser's decoder (not all tell), a frame's wait in the jitter buffer",
    },
  ];
}

/** What matters to who plays, in one line. */
export function short({ statistics, measured }: Sources): string {
  return join(
    `${megabits(carried(statistics))} Mbit/s`,
    `${gigabytesAnHour(carried(statistics))} GB an hour`,
    `${count(measured?.framesPerSecond)} fps`,
    `${decimal(statistics?.stages?.total, 0)} ms from game to screen`,
  );
}

/** Picture and sound together, in bit/s; null where the picture's bitrate is not known. */
function carried(statistics: Statistics | undefined): number | null {
  const picture = statistics?.bitrate ?? null;
  return picture === null ? null : picture + (statistics?.sound?.bitrate ?? 0);
}

function reliefRow(relief: string): Row {
  return {
    label: "Spared",
    value: relief,
    title: "What is left away because the host's processor or this browser cannot keep up",
  };
}

function soundRow(sound: ClientSound, statistics: Statistics | undefined): Row {
  const { skew, jitter_buffer, packets_lost, concealed, samples } = sound;
  const total = statistics?.stages?.total ?? null;
  const delay = skew === null || total === null ? null : total + skew;
  const share = concealed === null || !samples ? null : concealed / samples;
  return {
    label: "Sound",
    value: join(
      `delay ${decimal(delay)} ms`,
      `skew ${decimal(skew)} ms`,
      `buffer ${decimal(jitter_buffer)} ms`,
      `${count(packets_lost)} lost`,
      `${percent(share, 2)} made up`,
    ),
    title:
      "From the capture to the ear; how much later than the picture; the wait in the jitter buffer; lost packets; samples that this browser made up",
  };
}

/** The way's parts and their sum, in tenths of a millisecond that add up. */
export function latency(stages: Partial<Stages> | undefined): {
  readonly parts: readonly Part[];
  readonly total: number | null;
} {
  const known = STAGES.map((name) => ({ name, exact: stages?.[name] ?? null }));
  const sum = known.reduce((before, { exact }) => before + (exact ?? 0), 0);
  const total = stages?.total ?? null;
  const complete = known.every(({ exact }) => exact !== null);
  const tenths = Math.round((total ?? sum) * 10);

  const shown = known.map(({ exact }) => (exact === null ? null : Math.round(exact * 10)));
  let rest = tenths - shown.reduce((before: number, value) => before + (value ?? 0), 0);
  if (complete && Math.abs((total ?? sum) - sum) <= ROUNDING) {
    // Only rounding: the parts that it changed most bear the difference.
    const step = Math.sign(rest);
    const order = known
      .map(({ exact }, index) => ({ index, error: (exact ?? 0) * 10 - (shown[index] ?? 0) }))
      .sort((a, b) => step * (b.error - a.error));
    for (const { index } of order.slice(0, Math.abs(rest))) {
      shown[index] = (shown[index] ?? 0) + step;
      rest -= step;
    }
  }

  const parts: Part[] = known.map(({ name }, index) => ({ name, value: tenth(shown[index]) }));
  if (total !== null && rest !== 0) {
    // A part the host does not tell, or a sum that is not one: said, not hidden.
    parts.push({ name: "other", value: tenth(rest) });
  }
  return { parts, total: total !== null || complete ? tenth(tenths) : null };
}

/** `capture 0.3`, `encode 6.8`, … and their sum, `17.8 ms`. */
export function latencyTerms({ parts, total }: ReturnType<typeof latency>): {
  readonly terms: readonly string[];
  readonly sum: string;
} {
  return {
    terms: parts.map(({ name, value }) => `${name} ${decimal(value)}`),
    sum: `${decimal(total)} ms`,
  };
}

function tenth(tenths: number | null | undefined): number | null {
  return tenths === null || tenths === undefined ? null : tenths / 10;
}
