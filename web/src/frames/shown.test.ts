import { expect, test } from "vitest";
import type { FrameMetadata } from "./encode";
import { watchShown } from "./shown";

/** A picture element that shows a frame whenever it is told to. */
function element() {
  const waiting = new Map<number, VideoFrameRequestCallback>();
  let count = 0;
  const video = {
    requestVideoFrameCallback(callback: VideoFrameRequestCallback) {
      count += 1;
      waiting.set(count, callback);
      return count;
    },
    cancelVideoFrameCallback(handle: number) {
      waiting.delete(handle);
    },
  };
  const show = (now: number, presentationTime: number, expectedDisplayTime: number) => {
    const callbacks = [...waiting.values()];
    waiting.clear();
    const frame = { presentationTime, expectedDisplayTime, presentedFrames: count };
    for (const callback of callbacks) {
      callback(now, frame as VideoFrameCallbackMetadata);
    }
  };
  return { video: video as unknown as HTMLVideoElement, show };
}

test("a picture is on the screen at the named refresh, but not before the one of the callback", () => {
  const { video, show } = element();
  const seen: FrameMetadata[] = [];
  const stop = watchShown(video, (frame) => seen.push(frame));
  show(100, 95, 116);
  // Handed over just after the refresh at 116, which is named all the same.
  show(133, 119, 116);
  stop();
  show(150, 140, 150);
  expect(seen.map(({ presentationTime }) => presentationTime)).toEqual([95, 119]);
  expect(seen.map(({ expectedDisplayTime }) => expectedDisplayTime)).toEqual([116, 133]);
});
