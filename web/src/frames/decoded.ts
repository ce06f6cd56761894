// When each frame was decoded, for hosts that get no arrival times per frame.
//
// A worker reads the track, so that a busy page does not delay the stamp.

import type { DecodedFrame, WorkerInput } from "./decoded.worker";

export type Decoded = (rtpTimestamp: number, time: number) => void;

/**
 * Tells `listener` of each decoded frame, on this page's clock, or once
 * `unavailable` where the browser cannot. The result stops that.
 */
export function watchDecoded(
  track: MediaStreamTrack,
  listener: Decoded,
  unavailable: () => void,
): () => void {
  const worker = new Worker(new URL("./decoded.worker.ts", import.meta.url), { type: "module" });
  // A copy, for the track itself goes to the picture.
  const copy = track.clone();
  const stop = () => {
    worker.terminate();
    copy.stop();
  };
  worker.addEventListener("message", ({ data }: MessageEvent<DecodedFrame>) => {
    if (data === null) {
      stop();
      unavailable();
    } else {
      listener(data.rtpTimestamp, data.time - performance.timeOrigin);
    }
  });
  worker.addEventListener("error", () => {
    stop();
    unavailable();
  });
  try {
    hand(worker, copy);
  } catch {
    stop();
    // Later, so that the caller has what this function returns.
    queueMicrotask(unavailable);
  }
  return stop;
}

/** Chromium has the processor in the page, the standard in the worker. */
function hand(worker: Worker, track: MediaStreamTrack): void {
  if ("MediaStreamTrackProcessor" in globalThis) {
    const { readable } = new MediaStreamTrackProcessor({ track, maxBufferSize: 1 });
    worker.postMessage({ readable } satisfies WorkerInput, [readable]);
  } else {
    worker.postMessage({ track } satisfies WorkerInput, [track as unknown as Transferable]);
  }
}
