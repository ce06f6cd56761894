import { expect, it } from "vitest";
import { nameNumbers, TWCC_02, wantsNumbersNamed } from "./numbers";

const OFFER = [
  "v=0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 109",
  "a=mid:0",
  "a=extmap:14 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
  "m=video 9 UDP/TLS/RTP/SAVPF 120",
  "c=IN IP4 0.0.0.0",
  "a=mid:1",
  "a=extmap:13/recvonly urn:ietf:params:rtp-hdrext:toffset",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "a=mid:2",
  "",
].join("\r\n");

it("names version 02 in the section for video, with a number that is free everywhere", () => {
  const named = nameNumbers(OFFER);
  const line = `a=extmap:12 ${TWCC_02}\r\n`;
  expect(named.replace(line, "")).toBe(OFFER);
  expect(named).toContain(`a=mid:1\r\n${line}a=extmap:13`);
  expect(nameNumbers(named)).toBe(named);
});

it("leaves an offer as it is where there is no room or no video", () => {
  const all = Array.from({ length: 14 }, (_, index) => `a=extmap:${index + 1} urn:x\r\n`).join("");
  const full = OFFER.replace("a=mid:2\r\n", `a=mid:2\r\n${all}`);
  expect(nameNumbers(full)).toBe(full);
  const sound = OFFER.replace("m=video", "m=other");
  expect(nameNumbers(sound)).toBe(sound);
});

it("is for Firefox alone", () => {
  expect(wantsNumbersNamed("Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0")).toBe(true);
  expect(wantsNumbersNamed("Mozilla/5.0 AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36")).toBe(
    false,
  );
});
