// RTP times on the host's clock, and how far sound and picture are apart.

import type { RtpClock } from "../session/messages";

/** Ticks of a second. */
export const PICTURE_RATE = 90_000;
export const SOUND_RATE = 48_000;

/** When this RTP time was captured, in milliseconds of the host's clock. */
export function captured(clock: RtpClock, rate: number, rtp: number): number {
  // What wraps is half a range away at most.
  const ticks = (rtp - clock.rtp) | 0;
  return clock.time + (ticks * 1000) / rate;
}

/** So much of the past counts, in milliseconds. */
const WINDOW = 2000;

interface Lag {
  readonly at: number;
  readonly lag: number;
}

/**
 * By how much later sound is heard than the picture of the same time is seen.
 *
 * A lag is a time of this page less one of the host's. The two clocks are apart by an
 * unknown span, which is in the lags of both and not in their difference.
 */
export class SkewMeter {
  #pictures: Lag[] = [];
  #sounds: Lag[] = [];

  /** A picture that was captured at `captured` is on the screen at `at`. */
  picture(at: number, captured: number): void {
    this.#pictures = recent(this.#pictures, { at, lag: at - captured });
  }

  /** Sound that was captured at `captured` is at the loudspeaker at `at`. */
  sound(at: number, captured: number): void {
    this.#sounds = recent(this.#sounds, { at, lag: at - captured });
  }

  /** Of the medians; null while either is not known. */
  skew(): number | null {
    const picture = median(this.#pictures);
    const sound = median(this.#sounds);
    return picture === null || sound === null ? null : Math.round((sound - picture) * 10) / 10;
  }
}

function recent(lags: readonly Lag[], newest: Lag): Lag[] {
  return [...lags.filter(({ at }) => at > newest.at - WINDOW), newest];
}

function median(lags: readonly Lag[]): number | null {
  const sorted = lags.map(({ lag }) => lag).sort((a, b) => a - b);
  const half = sorted.length / 2;
  const low = sorted[Math.ceil(half) - 1];
  const high = sorted[Math.floor(half)];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
