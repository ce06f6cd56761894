// What runs inside the page, beside the page's own code: it reads the marker in
// the demo's pictures (crates/media/scene/src/marker.rs), notes when keys go down, counts
// what is sent, keeps what a failed connection went through and what is given to the
// loudspeaker.

import type { Page } from "playwright-core";

/** A page, whichever browser it is in. */
export interface Tab {
  /** What `code` comes to in the page. */
  evaluate<T>(code: () => T | Promise<T>): Promise<T>;
  click(selector: string): Promise<void>;
}

/** A frame, as requestVideoFrameCallback told of it. */
export interface Seen {
  /** When it was handed to the compositor, on the page's clock. */
  readonly presented: number;
  /** When it was expected on the screen. */
  readonly expected: number;
  /** The marker's two counters; null where there is no marker. */
  readonly actions: number | null;
  readonly pictures: number | null;
}

interface Probe {
  /** When each key went down. */
  readonly keys: number[];
  /** Binary messages sent, by their kind (docs/embed/protocol.md). */
  readonly sent: number[];
  readonly seen: Seen[];
  /** How connections came about, for when they do not. */
  readonly steps: string[];
  /** What the page gives the loudspeaker. */
  readonly outputs: AudioNode[];
}

declare global {
  interface Window {
    probe: Probe;
  }
}

/** Before the page's own code, so that its listener is the first to hear of a key. */
export function listen(): void {
  const sent: number[] = new Array(256).fill(0);
  const steps: string[] = [];
  const outputs: AudioNode[] = [];
  window.probe = { keys: [], sent, seen: [], steps, outputs };
  const connect = AudioNode.prototype.connect as (...given: unknown[]) => unknown;
  AudioNode.prototype.connect = function (this: AudioNode, ...given: unknown[]) {
    if (given[0] instanceof AudioDestinationNode) {
      outputs.push(this);
    }
    return connect.apply(this, given);
  } as typeof AudioNode.prototype.connect;
  const send: (this: RTCDataChannel, data: never) => void = RTCDataChannel.prototype.send;
  RTCDataChannel.prototype.send = function (this: RTCDataChannel, data: unknown) {
    if (data instanceof ArrayBuffer) {
      const [kind = 0] = new Uint8Array(data);
      sent[kind] = (sent[kind] ?? 0) + 1;
    }
    send.call(this, data as never);
  };
  const step = (text: string) => steps.push(`${Math.round(performance.now())} ${text}`);
  const create = RTCPeerConnection.prototype.createDataChannel;
  RTCPeerConnection.prototype.createDataChannel = function (label, options) {
    if (label === "control") {
      step("a connection begins");
      this.addEventListener("icecandidate", ({ candidate }) => step(candidate?.candidate ?? "all"));
      this.addEventListener("iceconnectionstatechange", () => step(this.iceConnectionState));
    }
    return create.call(this, label, options);
  };
  const down = ({ repeat }: KeyboardEvent) => {
    if (!repeat) {
      window.probe.keys.push(performance.now());
    }
  };
  window.addEventListener("keydown", down, { capture: true });
}

/** Notes every frame from now on, with its marker. */
export function follow(page: Tab): Promise<void> {
  return page.evaluate(() => {
    const CELLS = 34;
    const BITS = 16;
    const video = document.querySelector("video");
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!video || !context) {
      throw new Error("no video or no canvas");
    }

    const even = (length: number) => length - (length % 2);
    const read = () => {
      const cell = even(Math.max(8, Math.floor(video.videoWidth / 80)));
      const border = even(Math.max(2, Math.floor(cell / 4)));
      const width = CELLS * cell + 2 * border;
      const height = cell + 2 * border;
      if (width > video.videoWidth || height > video.videoHeight) {
        return undefined;
      }
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      context.drawImage(video, 0, 0, width, height, 0, 0, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      const mean = (left: number, top: number, across: number, down: number) => {
        let sum = 0;
        for (let y = top; y < top + down; y += 1) {
          for (let x = left; x < left + across; x += 1) {
            // The marker is grey: green stands for brightness.
            sum += data[(y * width + x) * 4 + 1] ?? 0;
          }
        }
        return sum / (across * down);
      };
      const inner = (place: number) =>
        mean(border + place * cell + cell / 4, border + cell / 4, cell / 2, cell / 2);
      const white = inner(0);
      const black = inner(1);
      const isWhite = (value: number) => 2 * value > white + black;
      const frame = [0, cell + 2 * border - 1].map((row) => mean(0, row, width, 1));
      if (white < black + 64 || !frame.every(isWhite)) {
        return undefined;
      }
      const number = (first: number) => {
        let bits = 0;
        for (let place = first; place < first + BITS; place += 1) {
          bits = (bits << 1) | Number(isWhite(inner(place)));
        }
        return [1, 2, 4, 8].reduce((gray, by) => gray ^ (gray >> by), bits);
      };
      return { actions: number(2), pictures: number(2 + BITS) };
    };

    const next = () => {
      video.requestVideoFrameCallback((now, frame) => {
        next();
        const marker = read();
        window.probe.seen.push({
          presented: frame.presentationTime,
          // As the page has it (src/frames/shown.ts).
          expected: Math.max(frame.expectedDisplayTime, now),
          actions: marker?.actions ?? null,
          pictures: marker?.pictures ?? null,
        });
      });
    };
    next();
  });
}

/** The frames noted so far. */
export function seen(page: Page): Promise<Seen[]> {
  return page.evaluate(() => window.probe.seen);
}

/** The newest frame with a marker. */
export function newest(page: Tab): Promise<Seen | undefined> {
  return page.evaluate(() => window.probe.seen.findLast(({ actions }) => actions !== null));
}

/** How many binary messages of a kind the page has sent. */
export function messages(page: Page, kind: number): Promise<number> {
  return page.evaluate((kind) => window.probe.sent[kind] ?? 0, kind);
}

export function keysDown(page: Page): Promise<number[]> {
  return page.evaluate(() => window.probe.keys);
}

/** The picture below the marker: a hash, and how many colours it has. */
export function fingerprint(page: Tab): Promise<{ hash: number; colours: number }> {
  return page.evaluate(() => {
    const video = document.querySelector("video");
    const canvas = document.createElement("canvas");
    canvas.width = 320;
    canvas.height = 160;
    const context = canvas.getContext("2d");
    if (!video || !context) {
      throw new Error("no video or no canvas");
    }
    const { videoWidth, videoHeight } = video;
    const top = videoHeight / 10;
    context.drawImage(video, 0, top, videoWidth, videoHeight - top, 0, 0, 320, 160);
    const pixels = new Uint32Array(context.getImageData(0, 0, 320, 160).data.buffer);
    // FNV-1a.
    const hash = pixels.reduce((hash, pixel) => Math.imul(hash ^ pixel, 16_777_619), 0x811c9dc5);
    return { hash, colours: new Set(pixels).size };
  });
}

/** How much further a counter of 16 bits is. */
export function since(before: number, after: number): number {
  return (after - before) & 0xffff;
}
