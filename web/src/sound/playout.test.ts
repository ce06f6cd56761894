import { describe, expect, it } from "vitest";
import { SOUND_RATE } from "./clock";
import { FRAME } from "./intake";
import { MARGIN, Playout } from "./playout";

const QUANTUM = 128;
const START = 2 ** 32;
/** What frames wait at least, in milliseconds. */
const LEAST = (MARGIN + QUANTUM) / 48;
/** The loudest step between two samples of the tone. */
const TONE = 330;
const STEEPEST = (2 * Math.PI * TONE) / SOUND_RATE;

function tone(at: number): number {
  return Math.sin(((at - START) * 2 * Math.PI * TONE) / SOUND_RATE);
}

function frame(number: number): Float32Array {
  return Float32Array.from({ length: FRAME }, (_, place) => tone(START + number * FRAME + place));
}

/** A random number for each `place`, always the same ones. */
function random(place: number): number {
  const mixed = Math.imul(place ^ (place >>> 15), 0x2c1b3c6d);
  const again = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((again ^ (again >>> 15)) >>> 0) / 2 ** 32;
}

interface Run {
  /** Milliseconds after its time that a frame is decoded; null when it never is. */
  readonly late: (number: number) => number | null;
  readonly seconds: number;
  readonly repeats?: number;
  /** Whether the loudspeaker asks, at a millisecond. */
  readonly plays?: (at: number) => boolean;
  /** How much faster the host's clock is. */
  readonly drift?: number;
}

/** Of each second what was counted, the frames' wait in milliseconds, and the steepest step. */
function run({ late, seconds, repeats = 0, plays = () => true, drift = 0 }: Run) {
  const playout = new Playout(1);
  const output = [new Float32Array(QUANTUM)] as const;
  const rows: {
    gaps: number;
    concealed: number;
    stretched: number;
    wait: number;
    steepest: number;
  }[] = [];
  let before = playout.counts;
  let next = 0;
  let last = 0;
  let steepest = 0;
  for (let time = 0; time < seconds * SOUND_RATE; time += QUANTUM) {
    const at = (1_000 * time) / SOUND_RATE;
    for (;;) {
      const delay = late(next);
      // A frame is whole when its last sample has been recorded.
      const due = ((next + 1) * 10) / (1 + drift) + (delay ?? 0);
      if (delay !== null && due > at) {
        break;
      }
      if (delay !== null) {
        const channels = [frame(next)];
        playout.insert({ at: START + next * FRAME, channels, isPrompt: true, repeats }, at);
      }
      next += 1;
    }
    if (plays(at)) {
      playout.render(output, at);
      for (const sample of output[0]) {
        steepest = Math.max(steepest, Math.abs(sample - last));
        last = sample;
      }
    }
    if ((time + QUANTUM) % SOUND_RATE < QUANTUM) {
      const { counts } = playout;
      const frames = counts.frames - before.frames;
      rows.push({
        gaps: counts.gaps - before.gaps,
        concealed: counts.concealed - before.concealed,
        stretched: counts.stretched - before.stretched,
        wait: (counts.waited - before.waited) / frames / 48,
        steepest,
      });
      before = { ...counts };
      steepest = 0;
    }
  }
  return rows;
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

describe("Sound that is played", () => {
  it("keeps what its jitter needs and no more, without a gap", () => {
    for (const jitter of [0, 4, 12, 25]) {
      const rows = run({ late: (number) => 3 + jitter * random(number), seconds: 60 });
      expect(sum(rows.slice(10).map(({ gaps }) => gaps))).toBe(0);
      // Frames wait for the margin, and on average for half of the jitter.
      const { wait } = rows.at(-1) ?? { wait: 0 };
      expect(wait).toBeGreaterThan(LEAST + jitter / 2 - 2);
      expect(wait).toBeLessThan(LEAST + jitter / 2 + 4);
    }
  });

  it("is the very samples, where nothing has to change", () => {
    const playout = new Playout(1);
    const output = [new Float32Array(FRAME)];
    const heard: number[] = [];
    for (let number = 0; number < 600; number += 1) {
      playout.insert(
        {
          at: START + number * FRAME,
          channels: [frame(number)],
          isPrompt: true,
          repeats: 0,
        },
        10 * number,
      );
      playout.render(output, 10 * number);
      if (playout.speed === 1) {
        heard.push(...(output[0] ?? []));
      }
    }
    expect(playout.speed).toBe(1);
    // A shift of less than a sample stays from what was faster before.
    const first = (playout.position ?? 0) - FRAME;
    const newest = heard.slice(-FRAME);
    const furthest = newest.map((sample, place) => Math.abs(sample - tone(first + place)));
    expect(Math.max(...furthest)).toBeLessThan(1e-4);
  });

  it("has no click, whether it is played faster, slower or made up", () => {
    const lost = (number: number) => number > 100 && number % 90 < 2;
    const rows = run({ late: (number) => (lost(number) ? null : 3), seconds: 30 });
    expect(sum(rows.map(({ gaps }) => gaps))).toBeGreaterThan(20);
    expect(Math.max(...rows.slice(1).map(({ steepest }) => steepest))).toBeLessThan(2 * STEEPEST);
  });

  it("makes up what is lost, and does not wait longer for it", () => {
    const lost = (number: number) => number > 100 && number % 100 === 0;
    const rows = run({ late: (number) => (lost(number) ? null : 3), seconds: 60 });
    const concealed = rows.slice(10, -1).map(({ concealed }) => concealed);
    // 10 ms, and what neighbours it at the cubic's ends.
    expect(Math.max(...concealed)).toBeLessThanOrEqual(FRAME + 4);
    expect(Math.min(...concealed)).toBeGreaterThan(FRAME - 4);
    expect(sum(concealed)).toBeGreaterThan(48 * FRAME);
    expect(rows.at(-1)?.wait).toBeLessThan(LEAST + 2);
  });

  it("keeps two frames in hand where packets repeat two", () => {
    // A frame that is lost comes with the next or the one behind it.
    const comes = (number: number) =>
      3 + 10 * (number % 97 === 50 ? 2 : Number(number % 97 === 51));
    const rows = run({ late: comes, seconds: 60, repeats: 2 });
    expect(sum(rows.slice(10).map(({ gaps }) => gaps))).toBe(0);
    const promptly = run({ late: () => 3, seconds: 60, repeats: 2 });
    expect(promptly.at(-1)?.wait).toBeGreaterThan(20 + LEAST - 1);
    expect(promptly.at(-1)?.wait).toBeLessThan(20 + LEAST + 3);
  });

  it("stretches what is a little late, and not again while it remembers", () => {
    // Every two seconds three frames come together.
    const burst = (number: number) => Math.max(0, 25 - 10 * (number % 200));
    const late = (number: number) => 3 + (number < 600 ? 0 : burst(number));
    const rows = run({ late, seconds: 40 });
    expect(sum(rows.map(({ gaps }) => gaps))).toBe(0);
    const stretched = sum(rows.map(({ stretched }) => stretched));
    // What it lacked, and what was left of a period of the tone.
    expect(stretched).toBeGreaterThan(48 * (25 - LEAST - 2));
    expect(stretched).toBeLessThan(48 * (25 - LEAST + 10));
    expect(Math.max(...rows.slice(1).map(({ steepest }) => steepest))).toBeLessThan(1.1 * STEEPEST);
    expect(rows.at(-1)?.wait).toBeLessThan(LEAST + 25 + 3);
  });

  it("makes up what is later, once", () => {
    const late = (number: number) => 3 + Math.max(0, 80 - 10 * (number % 500));
    const rows = run({ late: (number) => (number < 450 ? 3 : late(number)), seconds: 40 });
    expect(sum(rows.map(({ gaps }) => gaps))).toBe(1);
  });

  it("lets go of what is no longer needed", () => {
    const late = (number: number) => (number < 1_000 ? 3 + 40 * random(number) : 3);
    const rows = run({ late, seconds: 60 });
    expect(rows[9]?.wait).toBeGreaterThan(20);
    expect(rows.at(-1)?.wait).toBeLessThan(LEAST + 3);
    expect(sum(rows.slice(10).map(({ gaps }) => gaps))).toBe(0);
  });

  it("follows a clock that is faster or slower", () => {
    for (const drift of [-0.0005, 0.0005]) {
      const rows = run({ late: () => 3, seconds: 120, drift });
      expect(sum(rows.map(({ gaps }) => gaps))).toBe(0);
      const waits = rows.slice(20).map(({ wait }) => wait);
      expect(Math.min(...waits)).toBeGreaterThan(LEAST - 3);
      expect(Math.max(...waits)).toBeLessThan(LEAST + 20);
    }
  });

  it("leaves out what came while the loudspeaker stood still", () => {
    for (const still of [100, 800]) {
      const plays = (at: number) => at < 5_000 || at > 5_000 + still;
      const rows = run({ late: () => 3, seconds: 20, plays });
      expect(rows[7]?.wait).toBeLessThan(LEAST + 3);
      expect(sum(rows.map(({ gaps }) => gaps))).toBe(0);
    }
  });

  it("goes on after a long silence, and after nobody asked for it for long", () => {
    const silent = run({
      late: (number) => (number > 500 && number < 900 ? null : 3),
      seconds: 20,
    });
    expect(sum(silent.map(({ gaps }) => gaps))).toBe(1);
    expect(sum(silent.map(({ concealed }) => concealed))).toBeLessThan(11_000);
    expect(silent.at(-1)?.wait).toBeLessThan(30);
    const unheard = run({ late: () => 3, seconds: 30, plays: (at) => at > 10_000 });
    expect(sum(unheard.map(({ gaps }) => gaps))).toBe(0);
    expect(unheard.at(-1)?.wait).toBeLessThan(LEAST + 3);
  });
});
