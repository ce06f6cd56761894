// What the tests leave to be looked at: pictures, logs and figures in out/e2e.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const OUT = `${ROOT}out/e2e`;

/** Where a test leaves a file of this name. */
export function outFile(name: string): string {
  mkdirSync(OUT, { recursive: true });
  return `${OUT}/${name}`;
}

/** Records figures, which no test judges. */
export function writeFigures(name: string, figures: object): void {
  writeFileSync(outFile(`${name}.json`), `${JSON.stringify(figures, null, 2)}\n`);
}
