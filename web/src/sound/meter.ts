// What this browser knows of the sound: getStats(), and when it plays what.

import type { ClientSound, RtpClock } from "../session/messages";
import { captured, PICTURE_RATE, SkewMeter, SOUND_RATE } from "./clock";
import type { Played } from "./loudspeaker";

export type InboundSound = RTCInboundRtpStreamStats & { readonly kind: "audio" };

/** https://w3c.github.io/webrtc-stats/#playoutstats-dict*, which not all browsers have. */
export type Playout = RTCStats & {
  readonly totalPlayoutDelay?: number;
  readonly totalSamplesCount?: number;
};

/** The part of `RTCRtpSynchronizationSource` used here. */
export interface Source {
  readonly timestamp: number;
  readonly rtpTimestamp: number;
}

/** The means of what two looks have counted. */
class Mean {
  #sum = 0;
  #count = 0;

  /** Milliseconds of seconds; null when nothing was counted. */
  since(sum: number | undefined, count: number | undefined): number | null {
    const more = (count ?? 0) - this.#count;
    const spent = ((sum ?? 0) - this.#sum) * 1000;
    this.#sum = sum ?? 0;
    this.#count = count ?? 0;
    return more > 0 ? Math.round((spent / more) * 10) / 10 : null;
  }
}

export class SoundMeter {
  readonly #skew = new SkewMeter();
  readonly #buffer = new Mean();
  readonly #playout = new Mean();
  #playoutDelay: number | null = null;
  #pictureClock: RtpClock | undefined;
  #soundClock: RtpClock | undefined;
  #played: Played | undefined;

  /** What the host says of its clocks; what it does not say stays. */
  clocks(picture: RtpClock | null | undefined, sound: RtpClock | null | undefined): void {
    this.#pictureClock = picture ?? this.#pictureClock;
    this.#soundClock = sound ?? this.#soundClock;
  }

  /** A picture is on the screen at `at`, on this page's clock. */
  picture(rtpTimestamp: number, at: number): void {
    if (this.#pictureClock) {
      this.#skew.picture(at, captured(this.#pictureClock, PICTURE_RATE, rtpTimestamp));
    }
  }

  /** What the browser hands to its loudspeaker; the page plays nothing, or no longer. */
  heard(sources: readonly Source[]): void {
    this.#played = undefined;
    const [source] = sources;
    if (source && this.#soundClock) {
      const at = pageTime(source.timestamp) + (this.#playoutDelay ?? 0);
      this.#skew.sound(at, captured(this.#soundClock, SOUND_RATE, source.rtpTimestamp));
    }
  }

  /** What the page plays itself. */
  played(played: Played): void {
    this.#played = played;
    if (this.#soundClock) {
      this.#skew.sound(played.at, captured(this.#soundClock, SOUND_RATE, played.position));
    }
  }

  /** The figures of a second; null without sound. */
  measure(report: RTCStatsReport): ClientSound | null {
    const { inbound, playout } = entries(report);
    if (!inbound) {
      return null;
    }
    if (this.#played) {
      const { counts, playout } = this.#played;
      return {
        packets_lost: inbound.packetsLost ?? null,
        samples: counts.played,
        concealed: counts.concealed,
        gaps: counts.gaps,
        stretched: counts.stretched,
        jitter_buffer: this.#buffer.since(counts.waited / SOUND_RATE, counts.frames),
        playout: Math.round(playout * 10) / 10,
        skew: this.#skew.skew(),
      };
    }
    const { jitterBufferDelay, jitterBufferEmittedCount } = inbound;
    this.#playoutDelay = this.#playout.since(
      playout?.totalPlayoutDelay,
      playout?.totalSamplesCount,
    );
    return {
      packets_lost: inbound.packetsLost ?? null,
      samples: inbound.totalSamplesReceived ?? null,
      concealed: inbound.concealedSamples ?? null,
      gaps: inbound.concealmentEvents ?? null,
      stretched: inbound.insertedSamplesForDeceleration ?? null,
      jitter_buffer: this.#buffer.since(jitterBufferDelay, jitterBufferEmittedCount),
      playout: this.#playoutDelay,
      skew: this.#skew.skew(),
    };
  }
}

/** The standard counts from 1970, and some count from the page's beginning. */
function pageTime(timestamp: number): number {
  return timestamp > performance.timeOrigin ? timestamp - performance.timeOrigin : timestamp;
}

function entries(report: RTCStatsReport): {
  inbound: InboundSound | undefined;
  playout: Playout | undefined;
} {
  let inbound: InboundSound | undefined;
  let playout: Playout | undefined;
  report.forEach((entry: InboundSound & Playout & { type: string }) => {
    if (entry.type === "inbound-rtp" && entry.kind === "audio") {
      inbound = entry;
    } else if (entry.type === "media-playout") {
      playout = entry;
    }
  });
  return { inbound, playout };
}
