// What this browser knows of the session, from getStats().

import { received } from "../data/ledger";
import type { Client } from "../session/messages";
import { SoundMeter } from "../sound/meter";

/** More than the protocol's message: what the overlay and the link need. */
export interface Measured {
  readonly client: Client;
  readonly width: number | null;
  readonly height: number | null;
  readonly framesPerSecond: number | null;
  readonly powerEfficient: boolean | null;
  readonly retransmitted: number | null;
  /** Bytes that have come since the session began, with their headers. */
  readonly bytes: number;
}

/** The figures of two looks a second apart make one message. */
export class ClientMeter {
  readonly sound = new SoundMeter();
  #delay = 0;
  #emitted = 0;

  measure(report: RTCStatsReport, hidden: boolean): Measured {
    const video = inboundVideo(report);
    const delay = video?.jitterBufferDelay ?? 0;
    const emitted = video?.jitterBufferEmittedCount ?? 0;
    const frames = emitted - this.#emitted;
    const waited = (delay - this.#delay) * 1000;
    this.#delay = delay;
    this.#emitted = emitted;
    return {
      client: {
        type: "client",
        received: video?.framesReceived ?? null,
        decoded: video?.framesDecoded ?? null,
        dropped: video?.framesDropped ?? null,
        freezes: video?.freezeCount ?? null,
        freeze_duration: milliseconds(video?.totalFreezesDuration),
        packets_lost: video?.packetsLost ?? null,
        decoder: video?.decoderImplementation ?? null,
        jitter_buffer: frames > 0 ? Math.round((waited / frames) * 10) / 10 : null,
        hidden,
        sound: this.sound.measure(report),
      },
      width: video?.frameWidth ?? null,
      height: video?.frameHeight ?? null,
      framesPerSecond: video?.framesPerSecond ?? null,
      powerEfficient: video?.powerEfficientDecoder ?? null,
      retransmitted: video?.retransmittedPacketsReceived ?? null,
      bytes: received(report),
    };
  }
}

/** What one look at a connection finds. */
export interface Look {
  /** Something has come since the last look. */
  readonly alive: boolean;
  /** Once a second. */
  readonly measured: Measured | undefined;
}

const LOOKS_PER_MEASUREMENT = 4;

/** One session's figures, looked at four times a second. */
export class Observer {
  readonly #meter = new ClientMeter();
  #bytes = 0;
  #looks = 0;

  /** What is known of the sound. */
  get sound(): SoundMeter {
    return this.#meter.sound;
  }

  async look(peer: RTCPeerConnection): Promise<Look> {
    const report = await peer.getStats();
    const bytes = bytesReceived(report);
    const alive = bytes !== this.#bytes;
    this.#bytes = bytes;
    this.#looks += 1;
    const due = this.#looks % LOOKS_PER_MEASUREMENT === 0;
    return { alive, measured: due ? this.#meter.measure(report, document.hidden) : undefined };
  }
}

/** Bytes that have come from the host by any way: the sign that it is there. */
function bytesReceived(report: RTCStatsReport): number {
  let bytes = 0;
  report.forEach((entry: RTCStats & { bytesReceived?: number }) => {
    if (entry.type === "transport" || entry.type === "candidate-pair") {
      bytes += entry.bytesReceived ?? 0;
    }
  });
  return bytes;
}

type InboundVideo = RTCInboundRtpStreamStats & {
  powerEfficientDecoder?: boolean;
  retransmittedPacketsReceived?: number;
};

function inboundVideo(report: RTCStatsReport): InboundVideo | undefined {
  let found: InboundVideo | undefined;
  report.forEach((entry: InboundVideo) => {
    if (entry.type === "inbound-rtp" && entry.kind === "video") {
      found = entry;
    }
  });
  return found;
}

function milliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.round(seconds * 1000);
}
