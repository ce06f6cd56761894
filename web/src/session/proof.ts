// Proofs that a request and its answer come from somebody who knows a token, which itself is never
// sent: docs/embed/protocol.md, "Proofs". The browser's own cryptography is missing on plain HTTP.

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

export type Bytes = Uint8Array<ArrayBuffer>;

export interface Asked {
  readonly method: string;
  /** Path and query below the page's folder: `whep?role=player`. */
  readonly target: string;
  readonly body: Uint8Array;
}

export interface Answered {
  readonly status: number;
  /** The session that has begun; empty if none has. */
  readonly session: string;
  readonly body: Uint8Array;
}

/** A secret that page and host share. */
export class Secret {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  static ofToken(token: string): Secret {
    return new Secret(utf8ToBytes(token));
  }

  /** The proof of a request, in hexadecimal. */
  request(nonce: string, { method, target, body }: Asked): string {
    return bytesToHex(this.fields("mimosa request", nonce, method, target, sha256(body)));
  }

  /** The proof of the answer to a request with this body, in hexadecimal. */
  answer(nonce: string, asked: Uint8Array, { status, session, body }: Answered): string {
    const [before, after] = [sha256(asked), sha256(body)];
    return bytesToHex(this.fields("mimosa answer", nonce, `${status}`, session, before, after));
  }

  /** The secret of the session that a request with this nonce has begun. */
  session(nonce: string): Secret {
    return new Secret(this.fields("mimosa session", nonce));
  }

  /** The code over these fields, each of which follows its length. */
  fields(...fields: readonly (string | Uint8Array)[]): Uint8Array {
    const mac = hmac.create(sha256, this.#bytes);
    for (const field of fields) {
      const bytes = typeof field === "string" ? utf8ToBytes(field) : field;
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, bytes.length);
      mac.update(length).update(bytes);
    }
    return mac.digest();
  }
}

/** The value of `Authorization` for a request. */
export function shown(secret: Secret, nonce: string, asked: Asked, id?: string): string {
  const device = id === undefined ? "" : `id="${id}", `;
  return `Mimosa ${device}nonce="${nonce}", proof="${secret.request(nonce, asked)}"`;
}
