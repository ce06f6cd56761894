// How the host learns what arrives here.

const KINDS = ["rfc8888", "twcc-02", "twcc-01", "none"] as const;

/**
 * Kinds of reports, the best first: RFC 8888, which tells of congestion marks as well;
 * transport-wide congestion control, version 02, which reports when a packet asks; version 01,
 * which reports when it wants.
 */
export type Feedback = (typeof KINDS)[number];

/** What to ask for at first: the host takes the next best that a browser offers. */
export const BEST: Feedback = KINDS[0];

export function isFeedback(value: unknown): value is Feedback {
  return KINDS.some((kind) => kind === value);
}

/** What an answer agrees to. */
export function agreedFeedback(sdp: string): Feedback {
  if (/^a=rtcp-fb:\S+ ack ccfb\s*$/m.test(sdp)) {
    return "rfc8888";
  }
  if (sdp.includes("/transport-wide-cc-02")) {
    return "twcc-02";
  }
  return sdp.includes("-transport-wide-cc-extensions-01") ? "twcc-01" : "none";
}

/** Whether a page has to tell which frames are decoded, because reports may not tell in time. */
export function lacksNews(feedback: Feedback): boolean {
  // Each report of RFC 8888 comes once, and a lost one leaves it open whether a frame is whole.
  return feedback !== "twcc-02";
}

/** Whether a host asks for reports packet by packet, or the browser makes them often by itself. */
export function asksForReports(feedback: Feedback): boolean {
  return feedback === "rfc8888" || feedback === "twcc-02";
}

/** What to ask for after a browser has not taken the answer; `undefined` if there is nothing. */
export function afterRejection(asked: Feedback): Feedback | undefined {
  return asksForReports(asked) ? "twcc-01" : undefined;
}

/**
 * Whether this browser could report as RFC 8888 says, if it were started with a field trial: it is
 * Chromium or one of its kind, and `agreed` is something else.
 */
export function couldReportMarks(userAgent: string, agreed: Feedback | undefined): boolean {
  return /\bChrom(e|ium)\//.test(userAgent) && agreed !== "rfc8888";
}
