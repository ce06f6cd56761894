// When the machine stands still by itself: scripts/stops.py beside a measurement.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { ROOT } from "./out";

/** When it ended, in seconds since 1970, and for how many seconds a core stood still. */
export type Stop = readonly [ended: number, seconds: number];

/** Watches from now on; what is returned ends it, and gives the stops in order. */
export function watchStops(): () => Promise<readonly Stop[]> {
  const watch = spawn("python3", ["scripts/stops.py"], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const told = text(watch.stdout);
  const exit = once(watch, "exit");
  return async () => {
    watch.stdin.end();
    const [code] = await exit;
    if (code !== 0) {
      throw new Error(`scripts/stops.py ended with ${code}; it needs root`);
    }
    return JSON.parse(await told);
  };
}
