// Every frame that the browser hands to its compositor.

import type { FrameMetadata } from "./encode";

/** Calls `listener` for each frame shown; the result stops that. */
export function watchShown(
  video: HTMLVideoElement,
  listener: (frame: FrameMetadata) => void,
): () => void {
  if (!("requestVideoFrameCallback" in video)) {
    return watchPlaying(video, listener);
  }
  let handle = 0;
  const next = () => {
    handle = video.requestVideoFrameCallback((now, frame) => {
      next();
      // Chromium names the refresh before for a picture that it gets shortly after it. No picture is on
      // the screen before the refresh for which this is called.
      listener({ ...frame, expectedDisplayTime: Math.max(frame.expectedDisplayTime, now) });
    });
  };
  next();
  return () => video.cancelVideoFrameCallback(handle);
}

/** Without the callback, only that the picture has begun can be told. */
function watchPlaying(
  video: HTMLVideoElement,
  listener: (frame: FrameMetadata) => void,
): () => void {
  const begun = () => {
    const now = performance.now();
    listener({ presentationTime: now, expectedDisplayTime: now, presentedFrames: 0 });
  };
  video.addEventListener("playing", begun);
  return () => video.removeEventListener("playing", begun);
}
