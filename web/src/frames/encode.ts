// The binary messages of the data channel `frames` (docs/embed/protocol.md).

const SHOWN = 32;
const DECODED = 33;
const CLOCK_ANSWER = 34;
const CLOCK_QUESTION = 48;

const LITTLE_ENDIAN = true;

/** What `requestVideoFrameCallback` tells of a frame, and of what it may not know. */
export type FrameMetadata = Pick<
  VideoFrameCallbackMetadata,
  "presentationTime" | "expectedDisplayTime" | "presentedFrames"
> &
  Partial<Pick<VideoFrameCallbackMetadata, "rtpTimestamp" | "receiveTime" | "processingDuration">>;

export function encodeShown(frame: FrameMetadata): ArrayBuffer {
  const view = begin(44, SHOWN);
  view.setUint32(4, frame.rtpTimestamp ?? 0, LITTLE_ENDIAN);
  view.setFloat64(8, frame.receiveTime ?? Number.NaN, LITTLE_ENDIAN);
  // The one time of the browser that is in seconds.
  view.setFloat64(16, (frame.processingDuration ?? Number.NaN) * 1000, LITTLE_ENDIAN);
  view.setFloat64(24, frame.presentationTime, LITTLE_ENDIAN);
  view.setFloat64(32, frame.expectedDisplayTime, LITTLE_ENDIAN);
  view.setUint32(40, frame.presentedFrames, LITTLE_ENDIAN);
  return view.buffer;
}

export function encodeDecoded(rtpTimestamp: number, time: number): ArrayBuffer {
  const view = begin(16, DECODED);
  view.setUint32(4, rtpTimestamp, LITTLE_ENDIAN);
  view.setFloat64(8, time, LITTLE_ENDIAN);
  return view.buffer;
}

/** The host's time in a clock question; `undefined` for any other message. */
export function clockQuestion(data: ArrayBuffer): number | undefined {
  const view = new DataView(data);
  if (view.byteLength < 16 || view.getUint8(0) !== CLOCK_QUESTION) {
    return undefined;
  }
  return view.getFloat64(8, LITTLE_ENDIAN);
}

export function encodeClockAnswer(hostTime: number, pageTime: number): ArrayBuffer {
  const view = begin(24, CLOCK_ANSWER);
  view.setFloat64(8, hostTime, LITTLE_ENDIAN);
  view.setFloat64(16, pageTime, LITTLE_ENDIAN);
  return view.buffer;
}

function begin(length: number, kind: number): DataView<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(length));
  view.setUint8(0, kind);
  return view;
}
