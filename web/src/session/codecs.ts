// H.264 only, in the one packetization the host sends, with retransmissions.

/** The part of `RTCRtpCodec` that decides. */
export interface Codec {
  readonly mimeType: string;
  readonly sdpFmtpLine?: string;
}

/** The codecs to offer, in the browser's order; empty without H.264. */
export function h264Only<T extends Codec>(codecs: readonly T[]): T[] {
  const isH264 = (codec: T) =>
    codec.mimeType.toLowerCase() === "video/h264" &&
    /(^|;)\s*packetization-mode=1\s*(;|$)/.test(codec.sdpFmtpLine ?? "");
  if (!codecs.some(isH264)) {
    return [];
  }
  return codecs.filter((codec) => isH264(codec) || codec.mimeType.toLowerCase() === "video/rtx");
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
