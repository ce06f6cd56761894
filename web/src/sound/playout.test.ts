import { describe, expect, it } from "vitest";
import { SOUND_RATE } from "./clock";
import { FRAME } from "./intake";
import { Playout } from "./playout";
import { type Arrived, put, soundMemory, take } from "./shared";
import { MARGIN } from "./waits";

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

/** A player of one channel, and how frames get to it. */
function player() {
  const memory = soundMemory(1);
  const playout = new Playout(memory.rings);
  const arrived: Arrived = { at: 0, length: 0, isPrompt: false, repeats: 0, came: 0 };
  const insert = (number: number, came: number, repeats = 0) => {
    const at = START + number * FRAME;
    put(memory, { at, isPrompt: true, repeats, came }, [frame(number)]);
    expect(take(memory, arrived)).toBe(true);
    playout.insert(arrived);
  };
  return { playout, insert };
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
  /** How many quanta too early the loudspeaker asks, at a quantum's number. */
  readonly early?: (number: number) => number;
  /** What comes while the loudspeaker stands still is known when it asks again. */
  readonly queues?: boolean;
  /** How much faster the host's clock is. */
  readonly drift?: number;
}

/** Two periods of the tone. */
const WINDOW = Math.round((2 * SOUND_RATE) / TONE);

/** Of each second what was counted, the frames' wait in milliseconds, the steepest step, and the
 * least loudness of two periods, of 1. */
function run({
  late,
  seconds,
  repeats = 0,
  plays = () => true,
  early = () => 0,
  queues = false,
  drift = 0,
}: Run) {
  const { playout, insert } = player();
  const output = [new Float32Array(QUANTUM)] as const;
  const rows: {
    gaps: number;
    concealed: number;
    stretched: number;
    wait: number;
    steepest: number;
    quietest: number;
  }[] = [];
  let before = playout.counts;
  let next = 0;
  let last = 0;
  let steepest = 0;
  const window = new Float32Array(WINDOW).fill(1);
  let energy = WINDOW;
  let quietest = 2;
  let heard = 0;
  let owed = 0;
  for (let time = 0; time < seconds * SOUND_RATE; time += QUANTUM) {
    const at = (1_000 * time) / SOUND_RATE;
    const isStill = queues && !plays(at);
    while (!isStill) {
      const delay = late(next);
      // A frame is whole when its last sample has been recorded.
      const due = ((next + 1) * 10) / (1 + drift) + (delay ?? 0);
      if (delay !== null && due > at) {
        break;
      }
      if (delay !== null) {
        insert(next, at, repeats);
      }
      next += 1;
    }
    owed += plays(at) ? 1 : 0;
    if (plays(at)) {
      for (; owed + early(time / QUANTUM) > 0; owed -= 1) {
        playout.render(output, at);
        for (const sample of output[0]) {
          steepest = Math.max(steepest, Math.abs(sample - last));
          last = sample;
          energy += sample ** 2 - (window[heard % WINDOW] ?? 0) ** 2;
          window[heard % WINDOW] = sample;
          heard += 1;
          quietest = Math.min(quietest, (2 * energy) / WINDOW);
        }
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
        quietest,
      });
      before = { ...counts };
      steepest = 0;
      quietest = 2;
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
    const { playout, insert } = player();
    const output = [new Float32Array(FRAME)];
    const heard: number[] = [];
    for (let number = 0; number < 600; number += 1) {
      insert(number, 10 * number);
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
    // What is late now and then, and not lost, is no reason for more.
    const rarely = (number: number) => 3 + (number % 100 === 50 ? 15 : 0);
    const rare = run({ late: rarely, seconds: 60, repeats: 2 });
    expect(sum(rare.slice(10).map(({ gaps }) => gaps))).toBe(0);
    expect(rare.at(-1)?.wait).toBeLessThan(20 + LEAST + 3);
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

  it("goes on in the middle of no period", () => {
    for (const lateness of [18, 20, 22, 24]) {
      const late = (number: number) => 3 + (number === 700 ? lateness : 0);
      const rows = run({ late, seconds: 10 });
      expect(sum(rows.map(({ stretched }) => stretched))).toBeGreaterThan(0);
      expect(Math.min(...rows.slice(2).map(({ quietest }) => quietest))).toBeGreaterThan(0.95);
    }
  });

  it("has enough for a loudspeaker that takes much at a time, and takes it unevenly", () => {
    for (const most of [4, 10]) {
      const early = (number: number) => Math.floor(most * random(Math.floor(number / 20)));
      const rows = run({ late: () => 3, seconds: 60, early });
      const lacked = rows.slice(10).map(({ gaps, stretched }) => gaps + stretched);
      expect(sum(lacked)).toBe(0);
      expect(rows.at(-1)?.wait).toBeLessThan(LEAST + (1_000 * most * QUANTUM) / SOUND_RATE + 2);
    }
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
    const lumps = (number: number) => 9 - (number % 10);
    for (const still of [100, 800]) {
      const plays = (at: number) => at < 5_000 || at > 5_000 + still;
      for (const queues of [false, true]) {
        const rows = run({ late: () => 3, seconds: 20, plays, queues });
        expect(rows[7]?.wait).toBeLessThan(LEAST + 3);
        expect(sum(rows.map(({ gaps }) => gaps))).toBe(0);
      }
      const inLumps = run({ late: () => 3, seconds: 20, plays, early: lumps });
      expect(sum(inLumps.map(({ gaps, stretched }) => gaps + stretched))).toBe(0);
    }
  });

  it("counts what it leaves out when frames were late, and no longer are", () => {
    // Once a frame comes 150 ms too late, and those behind it with it.
    const late = (number: number) => 3 + Math.max(0, 150 - 10 * Math.abs(number - 500));
    const rows = run({ late: (number) => (number < 500 ? 3 : late(number)), seconds: 40 });
    expect(rows[9]?.wait).toBeGreaterThan(100);
    expect(rows.at(-1)?.wait).toBeLessThan(LEAST + 3);
    expect(sum(rows.map(({ gaps }) => gaps))).toBe(2);
  });

  it("begins with what its jitter needs, whatever the first frames wait for", () => {
    // The first picture keeps them waiting; one of two jitters is more than any fixed beginning.
    for (const jitter of [0, 40]) {
      const after = (number: number) => 3 + jitter * random(number);
      const late = (number: number) => Math.max(after(number), 130 - 10 * number);
      const rows = run({ late, seconds: 10 });
      expect(sum(rows.map(({ gaps, stretched }) => gaps + stretched))).toBe(0);
      expect(rows[1]?.wait).toBeGreaterThan(LEAST + jitter / 2 - 3);
      expect(rows[1]?.wait).toBeLessThan(LEAST + jitter / 2 + 6);
    }
  });

  it("begins when the loudspeaker takes the first samples in lumps", () => {
    const early = (number: number) => 9 - (number % 10);
    const rows = run({ late: () => 3, seconds: 10, early });
    expect(sum(rows.map(({ gaps, stretched }) => gaps + stretched))).toBe(0);
    expect(rows[1]?.wait).toBeLessThan(LEAST + (1_000 * 9 * QUANTUM) / SOUND_RATE + 2);
  });

  it("asks for what waits for a missing frame before it has begun", () => {
    const { playout, insert } = player();
    const output = [new Float32Array(QUANTUM)];
    for (const number of [0, 1, 2]) {
      playout.render(output, 10 * number);
      expect(playout.isDry).toBe(false);
      insert(number, 10 * number);
    }
    playout.render(output, 49);
    expect(playout.isDry).toBe(false);
    playout.render(output, 51);
    expect(playout.isDry).toBe(true);
  });

  it("goes on after a long silence, and after nobody asked for it for long", () => {
    const silent = run({
      late: (number) => (number > 500 && number < 900 ? null : 3),
      seconds: 20,
    });
    expect(sum(silent.map(({ gaps }) => gaps))).toBe(1);
    expect(sum(silent.map(({ concealed }) => concealed))).toBeLessThan(11_000);
    expect(silent.at(-1)?.wait).toBeLessThan(30);
    // When the loudspeaker begins to ask, the page is busy again.
    const busy = (number: number) => Math.max(0, 130 - 10 * (number - 1_000));
    const late = (number: number) => 3 + (number < 1_000 ? 0 : busy(number));
    const unheard = run({ late, seconds: 30, plays: (at) => at > 10_000 });
    expect(sum(unheard.map(({ gaps, stretched }) => gaps + stretched))).toBe(0);
    expect(unheard[11]?.wait).toBeLessThan(LEAST + 3);
    expect(unheard.at(-1)?.wait).toBeLessThan(LEAST + 3);
  });
});
