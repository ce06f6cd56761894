// Interfaces of the browser that TypeScript's library does not declare.

/** https://wicg.github.io/keyboard-lock/ */
interface Keyboard {
  lock(codes?: readonly string[]): Promise<void>;
  unlock(): void;
}

interface Navigator {
  readonly keyboard?: Keyboard;
}

interface Document {
  /** https://wicg.github.io/nav-speculation/prerendering.html */
  readonly prerendering?: boolean;
}

/** https://w3c.github.io/mediacapture-transform/ */
declare class MediaStreamTrackProcessor {
  constructor(options: { track: MediaStreamTrack; maxBufferSize?: number });
  readonly readable: ReadableStream<VideoFrame>;
}

/** https://webaudio.github.io/web-audio-api/#AudioPlaybackStats, in seconds */
interface AudioContext {
  readonly playbackStats?: { readonly underrunEvents: number; readonly underrunDuration: number };
}

interface VideoFrame {
  metadata?(): { rtpTimestamp?: number };
}

/** https://w3c.github.io/webrtc-extensions/#rtp-header-extension-control */
interface RtpHeaderExtensionCapability {
  readonly uri: string;
  readonly direction: RTCRtpTransceiverDirection;
}

interface RTCRtpTransceiver {
  getHeaderExtensionsToNegotiate?(): RtpHeaderExtensionCapability[];
  setHeaderExtensionsToNegotiate?(extensions: readonly RtpHeaderExtensionCapability[]): void;
}

interface WheelEvent {
  /** Not in the standard; exact where a browser has it: 120 for each notch. */
  readonly wheelDeltaX?: number;
  readonly wheelDeltaY?: number;
}
