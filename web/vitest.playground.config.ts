import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/playground.browser.ts"],
    testTimeout: 240_000,
    reporters: ["verbose"],
  },
});
