// HTTPS with the certificate that the host makes for itself, as another machine sees it.

import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { look, press, reach, startBrowser, watchFrames } from "./support/browser";
import { type Host, SMALL, startHost } from "./support/host";
import { ask } from "./support/http";
import { until } from "./support/wait";

test("a browser on another machine has everything over HTTPS", async () => {
  const address = beyondLoopback();
  const bind = ["--bind", `127.0.0.1,${address}`];
  const host = await startHost({ name: "tls", tls: "auto", args: [...bind, ...SMALL] });
  const [here = "", there = ""] = host.plays;
  expect(new URL(here).protocol, "for this machine").toBe("http:");
  const url = new URL(there);
  expect(url.protocol).toBe("https:");
  const key = /&key=([0-9a-f]{64})$/.exec(there)?.[1];
  const { shown, names } = await certificate(address, Number(url.port));
  expect(shown, "the key in the URL is the one that the host shows").toBe(key);
  expect(names).toContain(`IP Address:${address}`);

  // The page by HTTP: the host sends the browser on, which keeps the token.
  const browser = await startBrowser({ key });
  const page = await browser.open(there.replace("https:", "http:"));
  expect(page.url()).toBe(`${url.origin}/`);
  expect(await page.evaluate(capabilities)).toEqual({
    secure: true,
    isolated: true,
    gamepads: true,
    keyboardLock: true,
    clipboard: true,
    worklet: true,
  });
  await press(page, "play");
  await reach(page, "playing");
  await watchFrames(page, 10);
  expect((await look(page)).error).toBeNull();
  await page.close();

  const plain = `http://${url.host}`;
  const refused = await ask(`${plain}/whep`, { method: "POST", body: "v=0\r\n" });
  expect([refused.status, refused.code]).toEqual([403, "https-required"]);
  const moved = await ask(`${plain}/?role=view`);
  expect([moved.status, moved.headers.location]).toEqual([308, `${url.origin}/?role=view`]);
  expect(moved.headers["strict-transport-security"]).toBeUndefined();

  // Below a path of a proxy, which has taken the encryption off.
  for (const start of [startNginx, startCaddy]) {
    const base = await start(address, host);
    const below = await browser.play(`${base}/games/${url.hash}`);
    expect(below.url()).toBe(`${base}/games/`);
    await watchFrames(below, 10);
    await below.close();
  }
});

/** nginx as docs/use/https.md has it, with the host's own certificate; gives its URL. */
async function startNginx(address: string, host: Host): Promise<string> {
  return startProxy(
    address,
    (folder, port) => `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
    events {}
    http {
      access_log off;
      ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join(" ")}
      server {
        listen ${address}:${port} ssl;
        ssl_certificate ${host.state}/tls-certificate.pem;
        ssl_certificate_key ${host.state}/tls-key.pem;
        location /games/ {
          proxy_pass http://127.0.0.1:${new URL(host.play).port}/;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
        }
      }
    }`,
    (file) => ["/usr/sbin/nginx", "-c", file, "-e", "stderr"],
  );
}

/** Caddy as docs/use/https.md has it, with the host's own certificate; gives its URL. */
async function startCaddy(address: string, host: Host): Promise<string> {
  return startProxy(
    address,
    (_, port) => `{
      admin off
      auto_https disable_redirects
      log {
        level ERROR
      }
    }
    https://${address}:${port} {
      tls ${host.state}/tls-certificate.pem ${host.state}/tls-key.pem
      redir /games /games/
      handle_path /games/* {
        reverse_proxy 127.0.0.1:${new URL(host.play).port}
      }
    }`,
    (file) => ["caddy", "run", "--adapter", "caddyfile", "--config", file],
  );
}

/** A proxy with a configuration of its own, at a free port; gives its URL. */
async function startProxy(
  address: string,
  configuration: (folder: string, port: number) => string,
  command: (file: string) => string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "mimosa-proxy-"));
  const port = await freePort(address);
  const file = join(folder, "configuration");
  writeFileSync(file, configuration(folder, port));
  const [program = "", ...rest] = command(file);
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const proxy = spawn(program, rest, { stdio: ["ignore", "ignore", "inherit"], env });
  onTestFinished(() => {
    proxy.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const listens = () => certificate(address, port).then(() => true);
  await until(`${program} listens`, () => listens().catch(() => false));
  return `https://${address}:${port}`;
}

/** A TCP port that nobody has at the moment. */
function freePort(address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, address, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === "object" ? (bound?.port ?? 0) : 0));
    });
  });
}

/** What the page can do where it is. */
function capabilities() {
  const { keyboard } = navigator as { keyboard?: { lock?: unknown } };
  return {
    secure: isSecureContext,
    isolated: crossOriginIsolated,
    gamepads: typeof navigator.getGamepads === "function",
    keyboardLock: typeof keyboard?.lock === "function",
    clipboard: typeof navigator.clipboard?.readText === "function",
    worklet: typeof AudioWorklet === "function" && "audioWorklet" in AudioContext.prototype,
  };
}

/** An address of this machine that others can reach as well. */
function beyondLoopback(): string {
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const found = all.find((one) => one.family === "IPv4" && !one.internal)?.address;
  if (!found) {
    throw new Error("this machine has no address but its loopback ones");
  }
  return found;
}

/** The hash of the public key that a host shows, and the names of its certificate. */
function certificate(host: string, port: number): Promise<{ shown: string; names: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      const { publicKey, subjectAltName } = new X509Certificate(socket.getPeerCertificate().raw);
      const info = publicKey.export({ type: "spki", format: "der" });
      socket.destroy();
      const shown = createHash("sha256").update(info).digest("hex");
      resolve({ shown, names: subjectAltName ?? "" });
    });
    socket.on("error", reject);
  });
}
