// CPace, a key exchange with a password that may be short: draft-irtf-cfrg-cpace, cipher suite
// CPACE-RISTR255-SHA512, with what the host's side says of it (crates/session/protocol/src/pairing).

import { ristretto255, ristretto255_hasher } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

const { Point } = ristretto255;
const DOMAIN = utf8ToBytes("CPaceRistretto255");
const KEY_DOMAIN = utf8ToBytes("CPaceRistretto255_ISK");
/** Bytes of a block of SHA-512. */
const BLOCK = 128;

/** The side that sends its share first. */
export class Exchange {
  /** Our share, in hexadecimal. */
  readonly share: string;
  readonly #secret: bigint;
  readonly #session: Uint8Array;

  /** Begins with 32 random bytes; both sides have the same channel and session. */
  constructor(password: string, channel: string, session: Uint8Array, random: Uint8Array) {
    // 252 random bits, the lowest first.
    const bits = random.slice().reverse();
    bits[0] = (bits[0] ?? 0) & 0x0f;
    this.#secret = BigInt(`0x${bytesToHex(bits)}`);
    this.#session = session;
    this.share = generator(password, channel, session).multiply(this.#secret).toHex();
  }

  /** The key of both sides, from the other's share; throws where that is no point. */
  key(data: string, share: string, theirs: string): Uint8Array {
    const point = Point.fromHex(share).multiply(this.#secret);
    if (point.is0()) {
      throw new Error("the share is no point of the group");
    }
    const ours = [hexToBytes(this.share), utf8ToBytes(data)];
    const others = [hexToBytes(share), utf8ToBytes(theirs)];
    return sha512(joined(KEY_DOMAIN, this.#session, point.toBytes(), ...ours, ...others));
  }
}

function generator(password: string, channel: string, session: Uint8Array) {
  const first = joined(DOMAIN, utf8ToBytes(password));
  const zeros = new Uint8Array(Math.max(0, BLOCK - first.length - 1));
  const rest = joined(zeros, utf8ToBytes(channel), session);
  const derive = ristretto255_hasher.deriveToCurve;
  if (!derive) {
    throw new Error("ristretto255 is incomplete");
  }
  return derive(sha512(new Uint8Array([...first, ...rest])));
}

/** The fields, each after its length in LEB128. */
function joined(...fields: readonly Uint8Array[]): Uint8Array {
  const bytes: number[] = [];
  for (const field of fields) {
    let length = field.length;
    for (; length >= 0x80; length >>= 7) {
      bytes.push((length & 0x7f) | 0x80);
    }
    bytes.push(length, ...field);
  }
  return new Uint8Array(bytes);
}
