// Takes the sound's packets from the connection, decodes them and hands them to the worklet.
//
// In a worker, so that a busy page delays nothing.

import { SOUND_RATE } from "./clock";
import { type Frame, Intake } from "./intake";
import type { Dry, FromReceiver, ToReceiver } from "./messages";
import { type Block, blocks } from "./red";
import { put, type SoundMemory } from "./shared";

/** The parts of a worker's scope used here; TypeScript takes this for a page. */
interface EncodedSound {
  readonly data: ArrayBuffer;
  getMetadata(): { readonly payloadType?: number; readonly rtpTimestamp?: number };
}
interface Transformer {
  readonly readable: ReadableStream<EncodedSound>;
}
const scope = globalThis as unknown as {
  postMessage(message: FromReceiver): void;
  onmessage: ((event: MessageEvent<ToReceiver>) => void) | null;
  onrtctransform: ((event: { readonly transformer: Transformer }) => void) | null;
};

const CONFIG: AudioDecoderConfig = {
  codec: "opus",
  sampleRate: SOUND_RATE,
  numberOfChannels: 2,
};
/** Failures in a row after which there is no more hope. */
const MOST_FAILURES = 3;

/** One frame in, one frame out. */
class FrameDecoder {
  readonly #decoded: (frame: Frame, channels: readonly Float32Array[]) => void;
  #decoder: AudioDecoder;
  /** What is in the decoder. */
  #inside: Frame[] = [];
  #failures = 0;

  constructor(decoded: (frame: Frame, channels: readonly Float32Array[]) => void) {
    this.#decoded = decoded;
    this.#decoder = this.#begin();
  }

  decode(frames: readonly Frame[]): void {
    for (const frame of frames) {
      this.#inside.push(frame);
      // Every frame of Opus can be decoded by itself.
      const timestamp = Math.round((frame.at * 1_000_000) / SOUND_RATE);
      this.#decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, data: frame.data }));
    }
  }

  #begin(): AudioDecoder {
    const decoder = new AudioDecoder({
      output: (data) => this.#output(data),
      error: (error) => {
        // One that has failed is closed.
        this.#inside = [];
        this.#failures += 1;
        if (this.#failures >= MOST_FAILURES) {
          fail(error);
        } else {
          this.#decoder = this.#begin();
        }
      },
    });
    decoder.configure(CONFIG);
    return decoder;
  }

  #output(data: AudioData): void {
    const frame = this.#inside.shift();
    this.#failures = 0;
    if (frame) {
      const channels = Array.from({ length: data.numberOfChannels }, (_, planeIndex) => {
        const samples = new Float32Array(data.numberOfFrames);
        data.copyTo(samples, { planeIndex, format: "f32-planar" });
        return samples;
      });
      this.#decoded(frame, channels);
    }
    data.close();
  }
}

const intake = new Intake();
const decoder = new FrameDecoder((frame, channels) => {
  if (memory) {
    put(memory, { ...frame, came: Date.now() }, channels);
  }
});
let redundant: readonly number[] = [];
let memory: SoundMemory | undefined;

scope.onmessage = ({ data }) => {
  if ("redundant" in data) {
    redundant = data.redundant;
  } else {
    memory = data.memory;
    data.port.onmessage = (_dry: MessageEvent<Dry>) => decoder.decode(intake.dry());
  }
};

scope.onrtctransform = ({ transformer }) => {
  receive(transformer).catch(fail);
};

async function receive({ readable }: Transformer): Promise<void> {
  const reader = readable.getReader();
  for (;;) {
    const { value: packet, done } = await reader.read();
    if (done) {
      return;
    }
    const { payloadType, rtpTimestamp } = packet.getMetadata();
    const payload = new Uint8Array(packet.data);
    if (rtpTimestamp !== undefined && payload.length > 0) {
      decoder.decode(intake.packet(rtpTimestamp, frames(payload, payloadType)));
    }
  }
}

function frames(payload: Uint8Array, payloadType: number | undefined): readonly Block[] {
  const isRedundant = payloadType !== undefined && redundant.includes(payloadType);
  return isRedundant ? (blocks(payload) ?? []) : [{ age: 0, data: payload }];
}

function fail(error: unknown): void {
  scope.postMessage({ failed: String(error) });
}
