import { defineConfig } from "vitest/config";

const HOST = "http://127.0.0.1:8080";

export default defineConfig({
  // Relative, so that the page also works below a reverse proxy's path.
  base: "./",
  build: {
    target: "es2022",
    // The host's Content-Security-Policy lets assets in, but nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  // The tests that need a host and a browser have their own settings.
  // Some simulate minutes; how long that takes is the machine's business.
  test: { include: ["{src,playground}/**/*.test.ts"], testTimeout: 120_000 },
  // `npm run dev` plays from a host on this machine, which refuses other origins.
  server: {
    proxy: Object.fromEntries(
      ["/api", "/whep"].map((path) => [path, { target: HOST, headers: { origin: HOST } }]),
    ),
  },
});
