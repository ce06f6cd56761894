// Waiting for what must come, however slow the machine is.

import { setTimeout as sleep } from "node:timers/promises";

/** Long enough for everything that comes at all. */
export const LIVENESS = 60_000;
const POLL = 100;

/** What `look` gives once it gives something; fails with `what` when it never does. */
export async function until<T>(
  what: string | (() => string),
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  limit = LIVENESS,
): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false && found !== null) {
      return found;
    }
    if (performance.now() > end) {
      const missed = typeof what === "string" ? what : what();
      throw new Error(`${missed}: not within ${limit / 1000} s`);
    }
    await sleep(POLL);
  }
}

export { sleep };
