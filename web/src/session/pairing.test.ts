import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Exchange } from "./cpace";
import { Paired } from "./pairing";

const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));

it("exchanges keys as the draft does", () => {
  const channel = "\nAinitiator\nBresponder";
  const exchange = new Exchange(
    "Password",
    channel,
    hex("7e4b4791d6a8ef019b936c79fb7f2c57"),
    hex("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"),
  );
  expect(exchange.share).toBe("383a85dd236978f17f8c8545b50dabc52a39fcdab2cf8bc531ce040ff77ca82d");
  const other = "a6206309c0e8e5f579295e35997ac4300ab3fecec3c17f7b604f3e698fa1383c";
  expect(Buffer.from(exchange.key("ADa", other, "ADb")).toString("hex")).toBe(
    "e91ccb2c0f5e0d0993a33956e3be59754f3f2b07db57631f5394452ea2e7b4354674eb1f5686c078462bf83bec72e8743df440108e638f3526d9b90e85be096f",
  );
  for (const bad of [
    "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c",
    "00".repeat(32),
  ]) {
    expect(() => exchange.key("", bad, "")).toThrow();
  }
});

it("makes of a key what the documentation says, and the host's tests as well", () => {
  const documentation = readFileSync("../docs/embed/protocol.md", "utf8");
  const session = Uint8Array.from({ length: 16 }, (_, index) => index);
  const begin = (random: number) =>
    new Exchange("123456", "mimosa pairing", session, new Uint8Array(32).fill(random));
  const [device, host] = [begin(1), begin(2)];
  const paired = new Paired(device.key("Phone", host.share, ""));
  for (const text of [
    device.share,
    host.share,
    paired.byDevice,
    paired.byHost("0123456789abcdef", "play"),
    paired.byHost("0123456789abcdef", "play", "00ff"),
    paired.token,
  ]) {
    expect(documentation).toContain(text);
  }
});
