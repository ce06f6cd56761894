// Reads decoded frames from a track and tells when each came.

export type WorkerInput =
  | { readonly readable: ReadableStream<VideoFrame> }
  | { readonly track: MediaStreamTrack };

/** The time counts from 1970: worker and page have different origins. Null: not possible here. */
export type DecodedFrame = { readonly rtpTimestamp: number; readonly time: number } | null;

/** The part of a worker's scope used here; TypeScript takes this for a page. */
const scope = globalThis as unknown as {
  postMessage(message: DecodedFrame): void;
  onmessage: ((event: MessageEvent<WorkerInput>) => void) | null;
};

scope.onmessage = ({ data }) => {
  read(data).catch(() => scope.postMessage(null));
};

async function read(input: WorkerInput): Promise<void> {
  const readable =
    "readable" in input
      ? input.readable
      : new MediaStreamTrackProcessor({ track: input.track }).readable;
  const reader = readable.getReader();
  for (;;) {
    const { value: frame, done } = await reader.read();
    if (done) {
      return;
    }
    const time = performance.timeOrigin + performance.now();
    const rtpTimestamp = frame.metadata?.().rtpTimestamp;
    frame.close();
    if (rtpTimestamp === undefined) {
      scope.postMessage(null);
      return;
    }
    scope.postMessage({ rtpTimestamp, time });
  }
}
