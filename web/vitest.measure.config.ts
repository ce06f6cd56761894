import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.measure.ts"],
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 60 * 60_000,
    reporters: ["default"],
  },
});
