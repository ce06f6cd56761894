// Of the sound in offer and answer.

/** The offer, in which both channels of the sound are wanted (RFC 7587, section 6.1). */
export function stereo(sdp: string): string {
  const number = sdp.match(/^a=rtpmap:(\d+) opus\/48000\/2\s*$/im)?.[1];
  return number
    ? sdp.replace(new RegExp(`^(a=fmtp:${number} [^\\r\\n]*)`, "m"), "$1;stereo=1")
    : sdp;
}

/** Payload types whose packets repeat earlier frames (RFC 2198). */
export function redundantTypes(sdp: string): number[] {
  const lines = sdp.matchAll(/^a=rtpmap:(\d+) red\/48000\/2\s*$/gim);
  return [...lines].map(([, type]) => Number(type));
}
