// Transport-wide numbers in the offer of a browser that honours version 02 only where its own
// offer names it.

import { addToVideo } from "./sdp";

/** The header extension of transport-wide congestion control, version 02. */
export const TWCC_02 = "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";

/** One-byte headers have numbers up to 14 (RFC 8285, section 4.2). */
const HIGHEST = 14;

/** Firefox refuses an answer with an extension that its offer lacks; Chromium bears one. */
export function wantsNumbersNamed(userAgent: string): boolean {
  return /\bFirefox\//.test(userAgent);
}

/** The offer with version 02 in its section for video, if a number is free. */
export function nameNumbers(sdp: string): string {
  if (sdp.includes(TWCC_02)) {
    return sdp;
  }
  // A number means the same in all sections of a bundle (RFC 8843, section 7.1.2).
  const taken = new Set([...sdp.matchAll(/^a=extmap:(\d+)/gm)].map(([, number]) => Number(number)));
  let free = HIGHEST;
  while (taken.has(free)) {
    free -= 1;
  }
  if (free === 0) {
    return sdp;
  }
  return addToVideo(sdp, `a=extmap:${free} ${TWCC_02}`);
}
