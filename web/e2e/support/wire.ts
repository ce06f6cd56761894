// A wire between a page and a host on which somebody listens, or changes what passes.

import { connect, createServer } from "node:net";
import { onTestFinished } from "vitest";

export interface Wire {
  /** The host's URL, by way of the wire. */
  url(path: string): string;
  /** All that has passed, in both directions. */
  readonly passed: string;
}

/**
 * A wire to the host at `url`, until the test has ended. `change` may change each piece that passes,
 * without changing its length.
 */
export async function wire(
  url: string,
  change: (text: string) => string = (text) => text,
): Promise<Wire> {
  let passed = "";
  const pass = (data: Buffer): Buffer => {
    const text = change(data.toString("latin1"));
    passed += text;
    return Buffer.from(text, "latin1");
  };
  const server = createServer((near) => {
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    near.on("data", (data) => far.write(pass(data)));
    far.on("data", (data) => near.write(pass(data)));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("close", () => other.destroy());
      one.on("error", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: (path) => new URL(path, `http://127.0.0.1:${port}/`).href,
    get passed() {
      return passed;
    },
  };
}
