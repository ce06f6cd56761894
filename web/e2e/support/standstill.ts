// Whether the machine let its programs run: how well a stream goes on one that stands still says nothing about the
// stream. (`stops.ts` tells when a core stood still by itself, for a measurement.)

import { Worker } from "node:worker_threads";

/** Milliseconds between two looks at the clock. */
const EVERY = 10;
/** A machine that stands still for more milliseconds than this loses more than a stream bears without harm. */
const BORNE = 200;
/** How often is tried in all. */
const TRIES = 4;

/** A thread of its own: what waits for a program keeps this one from the clock. */
const WATCH = `
  const { workerData } = require("node:worker_threads");
  const [EVERY, shared] = workerData;
  const [OVER, LONGEST] = [0, 1];
  const cells = new Int32Array(shared);
  let before = performance.now();
  while (Atomics.load(cells, OVER) === 0) {
    Atomics.wait(cells, OVER, 0, EVERY);
    const now = performance.now();
    const still = Math.round(now - before - EVERY);
    Atomics.store(cells, LONGEST, Math.max(Atomics.load(cells, LONGEST), still));
    before = now;
  }
`;

/** Does `act`, and again if it fails while the machine stands still for longer than a stream bears. The last try
 * decides on a machine that stands still each time. */
export async function unlessStill(act: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const cells = new Int32Array(new SharedArrayBuffer(8));
    const watch = new Worker(WATCH, { eval: true, workerData: [EVERY, cells.buffer] });
    const longest = async () => {
      Atomics.store(cells, 0, 1);
      Atomics.notify(cells, 0);
      await watch.terminate();
      return Atomics.load(cells, 1);
    };
    try {
      await act();
      await longest();
      return;
    } catch (error) {
      const still = await longest();
      if (still <= BORNE || tried === TRIES) {
        throw error;
      }
      console.log(`once more: the machine stood still for ${still} ms`, error);
    }
  }
}
