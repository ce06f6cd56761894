// Builds the playground: `make playground`.

import { defineConfig } from "vite";

export default defineConfig({
  root: "playground",
  // Relative, so that the page also works below any path.
  base: "./",
  build: {
    target: "es2022",
    outDir: "../dist-playground",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});
