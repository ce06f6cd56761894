// What the page says of Opus in its offer.

/** The offer, in which both channels of the sound are wanted (RFC 7587, section 6.1). */
export function stereo(sdp: string): string {
  const number = sdp.match(/^a=rtpmap:(\d+) opus\/48000\/2\s*$/im)?.[1];
  return number
    ? sdp.replace(new RegExp(`^(a=fmtp:${number} [^\\r\\n]*)`, "m"), "$1;stereo=1")
    : sdp;
}
