// The codecs that a host may send, in the form in which it does, with retransmissions and
// what makes good what is lost.

/** The part of `RTCRtpCodec` that decides. */
export interface Codec {
  readonly mimeType: string;
  readonly sdpFmtpLine?: string;
}

/** The parameter of each codec that decides, and the values of it that fit. */
const FORMS = new Map<string, { parameter: string; fits: readonly (string | undefined)[] }>([
  ["video/h264", { parameter: "packetization-mode", fits: ["1"] }],
  // Of the profile Main, which is meant where none is named.
  ["video/h265", { parameter: "profile-id", fits: ["1", undefined] }],
  ["video/av1", { parameter: "profile", fits: ["0", undefined] }],
]);

/** What goes with any of them (RFC 4588, draft-ietf-payload-flexible-fec-scheme-03). */
const BESIDE = ["video/rtx", "video/flexfec-03"];

/** The codecs to offer, in the browser's order: the host chooses. Empty without any. */
export function playable<T extends Codec>(codecs: readonly T[]): T[] {
  if (!codecs.some(isSent)) {
    return [];
  }
  return codecs.filter((codec) => {
    return isSent(codec) || BESIDE.includes(codec.mimeType.toLowerCase());
  });
}

function isSent({ mimeType, sdpFmtpLine = "" }: Codec): boolean {
  const form = FORMS.get(mimeType.toLowerCase());
  const parameters = sdpFmtpLine.split(";").map((one) => one.trim().split("="));
  const named = parameters.find(([name]) => name === form?.parameter);
  return form?.fits.includes(named?.[1]) ?? false;
}

/** The UDP addresses that an answer's candidates name, as `address:port`. */
export function udpEndpoints(sdp: string): string[] {
  const endpoints = new Set<string>();
  // candidate:FOUNDATION COMPONENT TRANSPORT PRIORITY ADDRESS PORT typ …
  for (const match of sdp.matchAll(/^a=candidate:\S+ \d+ udp \d+ (\S+) (\d+) /gim)) {
    const [, address = "", port = ""] = match;
    endpoints.add(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);
  }
  return [...endpoints];
}
