// The page's side of the data channel `frames`: what became of each frame, and
// what time it is here.

import { type Feedback, lacksNews } from "../session/feedback";
import { watchDecoded } from "./decoded";
import {
  clockQuestion,
  encodeClockAnswer,
  encodeDecoded,
  encodeShown,
  type FrameMetadata,
} from "./encode";
import { watchShown } from "./shown";

export interface ReportsHost {
  send(data: ArrayBuffer): void;
  /** A frame of the present session was shown. */
  shown(frame: FrameMetadata): void;
}

export class FrameReports {
  readonly #video: HTMLVideoElement;
  readonly #host: ReportsHost;
  #running = false;
  #shown = 0;
  #decodedFromShown = false;
  #stopDecoded = () => {};

  constructor(video: HTMLVideoElement, host: ReportsHost) {
    this.#video = video;
    this.#host = host;
    watchShown(video, (frame) => this.#frameShown(frame));
  }

  /** Frames shown in the present session. */
  get shown(): number {
    return this.#shown;
  }

  begin(track: MediaStreamTrack, feedback: Feedback): void {
    this.#running = true;
    if (lacksNews(feedback)) {
      this.#stopDecoded = watchDecoded(
        track,
        (timestamp, time) => this.#host.send(encodeDecoded(timestamp, time)),
        () => {
          this.#decodedFromShown = true;
        },
      );
    }
  }

  /** The session is over; the next one counts from nothing. */
  end(): void {
    this.#stopDecoded();
    this.#stopDecoded = () => {};
    this.#running = false;
    this.#shown = 0;
    this.#decodedFromShown = false;
  }

  /** Answers a clock question. */
  answer(data: ArrayBuffer): void {
    const now = performance.now();
    const hostTime = clockQuestion(data);
    if (hostTime !== undefined) {
      this.#host.send(encodeClockAnswer(hostTime, now));
    }
  }

  #frameShown(frame: FrameMetadata): void {
    // A picture that may not start by itself still shows its first frame.
    if (!this.#running || this.#video.paused) {
      return;
    }
    this.#shown += 1;
    if (frame.rtpTimestamp !== undefined) {
      this.#host.send(encodeShown(frame));
      if (this.#decodedFromShown) {
        // Later than decoding, by at most one tick of the compositor.
        this.#host.send(encodeDecoded(frame.rtpTimestamp, frame.presentationTime));
      }
    }
    this.#host.shown(frame);
  }
}
