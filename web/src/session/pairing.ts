// Pairing: a PIN that the host shows makes a token for this device (docs/embed/protocol.md,
// "Pairing"). It is loaded only where somebody pairs.

import { bytesToHex } from "@noble/hashes/utils.js";
import { problem } from "../errors";
import { Exchange } from "./cpace";
import { Secret } from "./proof";
import type { Credential } from "./token";
import { Refusal, refusal } from "./whep";

const CHANNEL = "mimosa pairing";
/** After this the host counts as unreachable. */
const ANSWER_TIMEOUT = 5000;

/** What comes of the key of an exchange. */
export class Paired {
  readonly #secret: Secret;

  constructor(key: Uint8Array) {
    this.#secret = new Secret(key);
  }

  get byDevice(): string {
    return bytesToHex(this.#secret.fields("mimosa pairing device"));
  }

  /** With the key of the host's certificate, if the host says one. */
  byHost(id: string, role: string, key?: string): string {
    const words = key === undefined ? [id, role] : [id, role, key];
    return bytesToHex(this.#secret.fields("mimosa pairing host", ...words));
  }

  get token(): string {
    return bytesToHex(this.#secret.fields("mimosa pairing token").subarray(0, 16));
  }
}

/** Pairs this device with the host whose page is at `base`. */
export async function pair(base: string, pin: string, name: string): Promise<Credential> {
  const session = crypto.getRandomValues(new Uint8Array(16));
  const random = crypto.getRandomValues(new Uint8Array(32));
  const exchange = new Exchange(pin, CHANNEL, session, random);
  const handle = bytesToHex(session);
  const begun = await post(base, "begin", { name, session: handle, share: exchange.share });
  const paired = new Paired(exchange.key(name, String(begun.share), ""));
  const finished = await post(base, "finish", { session: handle, proof: paired.byDevice });
  const [id, role] = [String(finished.id), String(finished.role)];
  const key = finished.key === undefined ? undefined : String(finished.key);
  if (finished.proof !== paired.byHost(id, role, key)) {
    throw new Refusal(problem("not-proven"), undefined);
  }
  return { id, token: paired.token };
}

/** Asks the host to show a PIN, if it shows none. */
export async function askForPin(base: string): Promise<void> {
  await post(base, "ask", {});
}

async function post(base: string, step: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(`api/pair/${step}`, base), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT),
  });
  if (!response.ok) {
    throw await refusal(response);
  }
  // The host has nothing to say about a PIN that it shows.
  return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
}
