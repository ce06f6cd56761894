// One session's RTCPeerConnection: the offer, four data channels, picture and sound.

import { noCodec, type Problem, problem, relayTrouble } from "../errors";
import { parseRumble, type Rumble } from "../input/rumble";
import { playable, udpEndpoints } from "./codecs";
import { enableDependencies } from "./extensions";
import { agreedFeedback, asksForReports, type Feedback } from "./feedback";
import { type HostMessage, parseHostMessage, type Role } from "./messages";
import { nameNumbers, wantsNumbersNamed } from "./numbers";
import { redundantTypes, stereo } from "./opus";
import { addToVideo, PARTS } from "./sdp";
import { Refusal, type Whep } from "./whep";

export type ConnectionEvent =
  | {
      readonly kind: "answered";
      readonly endpoints: readonly string[];
      /** Payload types whose packets repeat earlier frames of sound. */
      readonly redundant: readonly number[];
      readonly feedback: Feedback;
    }
  | {
      readonly kind: "refused";
      readonly problem: Problem;
      readonly retryAfter?: number | undefined;
    }
  | { readonly kind: "unanswered" }
  /** The browser does not take the host's answer. */
  | { readonly kind: "rejected"; readonly problem: Problem }
  | { readonly kind: "ice"; readonly state: RTCIceConnectionState }
  /** Why a relay is of no use. */
  | { readonly kind: "relay"; readonly trouble: string }
  | { readonly kind: "track"; readonly track: MediaStreamTrack }
  | { readonly kind: "message"; readonly message: HostMessage }
  | { readonly kind: "rumble"; readonly rumble: Rumble }
  /** A binary message on `frames`. */
  | { readonly kind: "question"; readonly data: ArrayBuffer };

export interface SessionOptions {
  readonly role: Role;
  readonly feedback: Feedback;
  readonly replaces: string | undefined;
}

export type ChannelName = "input" | "keys" | "frames" | "control";

/** The host's candidates are in its answer; the page's own matter to a relay alone, which learns of late ones later. */
const GATHERING_LIMIT = 300;
/** Above this the network takes no more; newer state follows anyway. */
const BUFFER_LIMIT = 16384;

const NEWEST: RTCDataChannelInit = { ordered: false, maxRetransmits: 0 };
const RELIABLE: RTCDataChannelInit = { ordered: true };

export class Connection {
  readonly peer: RTCPeerConnection;
  #session: string | undefined;
  #closed = false;
  /** Candidates that came after the offer, of which the host does not know yet; none without a relay. */
  #late: string[] | undefined;
  #trickles = false;
  readonly #whep: Whep;
  readonly #listener: (event: ConnectionEvent) => void;
  readonly #channels: Readonly<Record<ChannelName, RTCDataChannel>>;
  readonly #transceiver: RTCRtpTransceiver;
  readonly #sound: RTCRtpTransceiver;

  constructor(whep: Whep, listener: (event: ConnectionEvent) => void) {
    this.#whep = whep;
    this.#listener = listener;
    this.peer = new RTCPeerConnection();
    this.#transceiver = this.peer.addTransceiver("video", { direction: "recvonly" });
    this.#sound = this.peer.addTransceiver("audio", { direction: "recvonly" });
    this.#channels = {
      input: this.#channel("input", NEWEST),
      keys: this.#channel("keys", RELIABLE),
      frames: this.#channel("frames", NEWEST),
      control: this.#channel("control", RELIABLE),
    };
    this.#listen();
  }

  /** The host's ID of this session, once it has answered. */
  get session(): string | undefined {
    return this.#session;
  }

  /** Whether the host has agreed to send sound. */
  get hasSound(): boolean {
    return this.#sound.currentDirection === "recvonly";
  }

  /** Where the sound comes. */
  get soundReceiver(): RTCRtpReceiver {
    return this.#sound.receiver;
  }

  /** What the browser plays of the sound now. */
  get soundSources(): RTCRtpSynchronizationSource[] {
    return this.#sound.receiver.getSynchronizationSources();
  }

  /** Offers a session; how it goes is told through the listener. */
  async open(options: SessionOptions): Promise<void> {
    try {
      const sdp = await this.#offer(options.feedback);
      const answer = await this.#whep.begin({ ...options, sdp });
      this.#session = answer.session;
      if (this.#closed) {
        this.#whep.end(answer.session);
        return;
      }
      void this.#trickle();
      const [endpoints, redundant] = [udpEndpoints(answer.sdp), redundantTypes(answer.sdp)];
      const feedback = agreedFeedback(answer.sdp);
      this.#tell({ kind: "answered", endpoints, redundant, feedback });
      await this.peer.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    } catch (error) {
      if (error instanceof Refusal) {
        const { code, message } = error.problem;
        const agent = navigator.userAgent;
        const refused = code === "no-codec" ? noCodec(agent, message) : error.problem;
        this.#tell({ kind: "refused", problem: refused, retryAfter: error.retryAfter });
      } else if (this.#session) {
        const refused = problem("unknown", `The host's answer does not fit: ${error}`);
        this.#tell({ kind: "rejected", problem: refused });
      } else {
        this.#tell({ kind: "unanswered" });
      }
    }
  }

  /** Takes further addresses of the host. */
  reach(candidates: readonly string[]): void {
    for (const candidate of candidates) {
      // What the browser cannot use is of no use to it later either; all sections share one
      // connection.
      this.peer.addIceCandidate({ candidate, sdpMLineIndex: 0 }).catch(() => {});
    }
  }

  /** Sends, unless the channel is not open yet or no longer. */
  send(name: ChannelName, data: ArrayBuffer | string): boolean {
    const channel = this.#channels[name];
    if (channel.readyState !== "open") {
      return false;
    }
    if (!channel.ordered && channel.bufferedAmount > BUFFER_LIMIT) {
      return false;
    }
    if (typeof data === "string") {
      channel.send(data);
    } else {
      channel.send(data);
    }
    return true;
  }

  /** Stops listening and sending; the session at the host stays. */
  close(): void {
    this.#closed = true;
    this.peer.close();
  }

  /** Ends the session at the host as well. */
  end(): void {
    this.close();
    if (this.#session) {
      this.#whep.end(this.#session);
    }
  }

  async #offer(feedback: Feedback): Promise<string> {
    const codecs = playable(RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? []);
    if (codecs.length === 0) {
      throw new Refusal(problem("no-codec"), undefined);
    }
    this.#transceiver.setCodecPreferences(codecs);
    enableDependencies(this.#transceiver);
    // Browsers without it keep their own jitter buffer.
    for (const { receiver } of [this.#transceiver, this.#sound]) {
      if ("jitterBufferTarget" in receiver) {
        receiver.jitterBufferTarget = 0;
      }
    }
    const relays = await this.#relays();
    const { type, sdp: own = "" } = await this.peer.createOffer();
    const isNamed = asksForReports(feedback) && wantsNumbersNamed(navigator.userAgent);
    const sdp = isNamed ? nameNumbers(stereo(own)) : stereo(own);
    await this.peer.setLocalDescription({ type, sdp });
    await this.#gathered();
    const local = this.peer.localDescription?.sdp;
    this.#late = relays ? [] : undefined;
    if (!local) {
      throw new Refusal(problem("no-webrtc"), undefined);
    }
    // Browsers decode pictures of several slices, and put a frame together whenever its packets come.
    return addToVideo(local, PARTS);
  }

  /** Has the browser use the host's relays, if it has any. */
  async #relays(): Promise<boolean> {
    try {
      const iceServers = await this.#whep.relays();
      if (iceServers.length > 0) {
        this.peer.setConfiguration({ iceServers });
      }
      return iceServers.length > 0;
    } catch (error) {
      // The direct ways may do.
      const why = error instanceof Refusal ? error.problem.message : `${error}`;
      this.#tell({ kind: "relay", trouble: `the host does not tell how to use it: ${why}` });
      return false;
    }
  }

  /** Tells the host of candidates of which it does not know. */
  async #trickle(): Promise<void> {
    // One request after another: the host takes their numbers in order.
    while (this.#session && !this.#trickles && this.#late && this.#late.length > 0) {
      this.#trickles = true;
      await this.#whep.trickle(this.#session, this.#late.splice(0));
      this.#trickles = false;
    }
  }

  #gathered(): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.peer.iceGatheringState === "complete") {
          resolve();
        }
      };
      this.peer.addEventListener("icegatheringstatechange", check);
      setTimeout(resolve, GATHERING_LIMIT);
      check();
    });
  }

  #channel(name: ChannelName, options: RTCDataChannelInit): RTCDataChannel {
    const channel = this.peer.createDataChannel(name, options);
    channel.binaryType = "arraybuffer";
    return channel;
  }

  #listen(): void {
    this.peer.addEventListener("iceconnectionstatechange", () => {
      this.#tell({ kind: "ice", state: this.peer.iceConnectionState });
    });
    this.peer.addEventListener("connectionstatechange", () => {
      // DTLS can fail where ICE has not.
      if (this.peer.connectionState === "failed") {
        this.#tell({ kind: "ice", state: "failed" });
      }
    });
    this.peer.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.candidate) {
        this.#late?.push(candidate.candidate);
        void this.#trickle();
      }
    });
    this.peer.addEventListener("icecandidateerror", (event) => {
      const { url, errorCode, errorText } = event;
      this.#whep.forgetRelays();
      this.#tell({ kind: "relay", trouble: relayTrouble(url, errorCode, errorText) });
    });
    this.peer.addEventListener("track", ({ track }) => this.#tell({ kind: "track", track }));
    this.#channels.control.addEventListener("message", ({ data }) => {
      const message = parseHostMessage(data);
      if (message) {
        this.#tell({ kind: "message", message });
      }
    });
    this.#channels.input.addEventListener("message", ({ data }) => {
      const rumble = data instanceof ArrayBuffer ? parseRumble(data) : undefined;
      if (rumble) {
        this.#tell({ kind: "rumble", rumble });
      }
    });
    this.#channels.frames.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) {
        this.#tell({ kind: "question", data });
      }
    });
  }

  #tell(event: ConnectionEvent): void {
    if (!this.#closed) {
      this.#listener(event);
    }
  }
}
