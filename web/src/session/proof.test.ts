import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Asked, Secret, shown } from "./proof";

const NONCE = "000102030405060708090a0b0c0d0e0f".repeat(2);
const SESSION = "00112233445566778899aabbccddeeff";
const bytes = (text: string) => new TextEncoder().encode(text);
const asked: Asked = { method: "POST", target: "whep?role=player", body: bytes("v=0\r\n") };
const answered = { status: 201, session: SESSION, body: bytes("v=0\r\ns=-\r\n") };
const token = Secret.ofToken("player-player-player");

describe("proofs", () => {
  it("are those of the documentation, which the host's tests have as well", () => {
    const documentation = readFileSync("../docs/embed/protocol.md", "utf8");
    const end: Asked = { method: "DELETE", target: `whep/${SESSION}`, body: bytes("") };
    for (const proof of [
      token.request(NONCE, asked),
      token.answer(NONCE, asked.body, answered),
      token.session(NONCE).request("1", end),
    ]) {
      expect(documentation).toContain(proof);
    }
  });

  it("are others for other requests and answers", () => {
    const proofs = [
      token.request(NONCE, asked),
      token.request(NONCE, { ...asked, target: "whep?role=viewer" }),
      token.request(NONCE, { ...asked, body: bytes("v=1\r\n") }),
      Secret.ofToken("another").request(NONCE, asked),
      token.answer(NONCE, asked.body, answered),
      token.answer(NONCE, bytes("v=1\r\n"), answered),
      token.answer(NONCE, asked.body, { ...answered, body: bytes("v=1\r\n") }),
    ];
    expect(new Set(proofs).size).toBe(proofs.length);
  });

  it("are shown without the token", () => {
    const value = shown(token, NONCE, asked);
    expect(value).toMatch(/^Mimosa nonce="[0-9a-f]{64}", proof="[0-9a-f]{64}"$/);
    expect(value).not.toContain("player-player");
  });
});
