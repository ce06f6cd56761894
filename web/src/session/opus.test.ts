import { expect, it } from "vitest";
import { stereo } from "./opus";

it("asks for both channels", () => {
  const offer = [
    "m=audio 9 UDP/TLS/RTP/SAVPF 111 63",
    "a=rtpmap:111 opus/48000/2",
    "a=fmtp:111 minptime=10;useinbandfec=1",
    "a=rtpmap:63 red/48000/2",
    "a=fmtp:63 111/111",
    "",
  ].join("\r\n");
  const asked = "a=fmtp:111 minptime=10;useinbandfec=1;stereo=1\r\n";
  expect(stereo(offer)).toBe(offer.replace("a=fmtp:111 minptime=10;useinbandfec=1\r\n", asked));
});

it("leaves an offer without Opus as it is", () => {
  const offer = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=fmtp:96 x=1\r\n";
  expect(stereo(offer)).toBe(offer);
});
