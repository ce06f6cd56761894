// Carries WebDriver BiDi between the standard streams, where a line is a message, and a browser that
// listens at the address in the argument, on the loopback device of the place where both run.

import { createInterface } from "node:readline";

const socket = new WebSocket(process.argv[2] ?? "");
socket.addEventListener("message", ({ data }) => process.stdout.write(`${data}\n`));
socket.addEventListener("error", ({ message }) => console.error("the relay:", message));
socket.addEventListener("close", () => process.exit());
socket.addEventListener("open", () => {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => socket.send(line));
  lines.on("close", () => socket.close());
});
