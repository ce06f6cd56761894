import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // One host and one browser have enough to do with a small machine.
    fileParallelism: false,
    maxWorkers: 1,
    // For what never comes; nothing fails for being slow.
    testTimeout: 240_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
