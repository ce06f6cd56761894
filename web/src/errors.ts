// Why the page cannot play, in words that say what to do.

/** Codes of the host (docs/embed/protocol.md) and, below, the page's own. */
export type ProblemCode =
  | "bad-offer"
  | "bad-request"
  | "token-missing"
  | "challenge-old"
  | "token-wrong"
  | "token-in-clear"
  | "pin-wrong"
  | "pin-old"
  | "no-pairing"
  | "view-only"
  | "owner-only"
  | "origin"
  | "https-required"
  | "no-session"
  | "no-codec"
  | "player-present"
  | "too-large"
  | "bad-type"
  | "too-many-requests"
  | "host-full"
  // The page's own:
  | "no-webrtc"
  | "no-udp"
  | "no-decode"
  | "autoplay"
  | "not-proven"
  | "unreachable"
  | "unknown";

/** What a person can do about it. */
export type Remedy = "retry" | "watch" | "token" | "pin" | "start-picture";

export interface Problem {
  readonly code: ProblemCode;
  readonly title: string;
  readonly message: string;
  readonly remedies: readonly Remedy[];
}

interface Words {
  readonly title: string;
  /** Used where the host sends no message of its own. */
  readonly message: string;
  readonly remedies: readonly Remedy[];
}

const WORDS: Readonly<Record<ProblemCode, Words>> = {
  "bad-offer": {
    title: "The host refused this browser's offer",
    message: "Reload the page; if that does not help, host and browser do not fit together.",
    remedies: ["retry"],
  },
  "bad-request": {
    title: "The host did not understand the page",
    message: "Reload the page: it may be older than the host.",
    remedies: ["retry"],
  },
  "token-missing": {
    title: "This host asks for a token",
    message: "Open the link that the host printed when it started, or paste its token here.",
    remedies: ["token"],
  },
  "challenge-old": {
    title: "The request came too late",
    message: "It took longer than a minute, or came twice. Try again.",
    remedies: ["retry"],
  },
  "token-in-clear": {
    title: "The token was sent in clear",
    message: "Reload the page: it may be older than the host.",
    remedies: ["token"],
  },
  "not-proven": {
    title: "This answer is not the host's",
    message:
      "Whoever answered does not know the token, or the answer was changed on its way. Check the " +
      "address, or paste the token that the host prints now.",
    remedies: ["token"],
  },
  "token-wrong": {
    title: "The token is not this host's",
    message: "It may be of an earlier start. Paste the one that the host prints now.",
    remedies: ["token"],
  },
  "pin-wrong": {
    title: "That is another PIN",
    message: "Look at the host's terminal, and enter the PIN that it shows.",
    remedies: ["pin"],
  },
  "pin-old": {
    title: "The PIN is not good any more",
    message: "Enter the one that the host shows now.",
    remedies: ["pin"],
  },
  "no-pairing": {
    title: "This host pairs no devices",
    message: "Open the link that it printed when it started, or paste its token here.",
    remedies: ["token"],
  },
  "view-only": {
    title: "This token is for watching",
    message: "To play, ask for the player's link.",
    remedies: ["watch", "token"],
  },
  "owner-only": {
    title: "This is for the host's owner",
    message: "Open the URL that the host prints as own.",
    remedies: [],
  },
  origin: {
    title: "The host refused a request from another site",
    message: "Open the page at the host's own address.",
    remedies: [],
  },
  "https-required": {
    title: "The host wants HTTPS",
    message: "Open the address that it prints, which begins with https.",
    remedies: [],
  },
  "no-session": {
    title: "The host does not know this session",
    message: "It has ended. Begin another.",
    remedies: ["retry"],
  },
  "no-codec": {
    title: "This browser cannot decode the picture",
    message:
      "The picture is sent as H.264 (packetization mode 1), or as AV1 or H.265 where the host " +
      "is set to it. Use a browser that decodes it, such as Chrome, Edge, Safari or Firefox " +
      "with its OpenH264 plugin.",
    remedies: ["retry"],
  },
  "player-present": {
    title: "Somebody else is playing",
    message: "One plays at a time. You can watch, or try again when the place is free.",
    remedies: ["watch", "retry"],
  },
  "too-large": {
    title: "The browser's offer is too large",
    message: "Reload the page; extensions that change WebRTC may be the cause.",
    remedies: ["retry"],
  },
  "bad-type": {
    title: "The host did not understand the page",
    message: "Something between page and host changed the request's type.",
    remedies: ["retry"],
  },
  "too-many-requests": {
    title: "Too many attempts",
    message: "Wait a moment and try again.",
    remedies: ["retry"],
  },
  "host-full": {
    title: "The host is full",
    message: "As many sessions run as it allows. Try again when somebody has left.",
    remedies: ["retry"],
  },
  "no-webrtc": {
    title: "This browser has no WebRTC",
    message: "It is missing or switched off by a setting, a policy or an extension.",
    remedies: [],
  },
  "no-udp": {
    title: "The host answers, but the stream does not get through",
    message: "",
    remedies: ["retry"],
  },
  "no-decode": {
    title: "The picture arrives, but cannot be decoded",
    message:
      "This browser took the stream and shows none of it. Reload the page, or try another browser.",
    remedies: ["retry"],
  },
  autoplay: {
    title: "The browser holds the picture back",
    message: "It does not start videos by itself. One press starts it.",
    remedies: ["start-picture"],
  },
  unreachable: {
    title: "The host does not answer",
    message: "It may have been stopped, or the network is down.",
    remedies: ["retry"],
  },
  unknown: {
    title: "The host refused",
    message: "It gave no reason that this page knows.",
    remedies: ["retry"],
  },
};

export function isProblemCode(text: unknown): text is ProblemCode {
  return typeof text === "string" && Object.hasOwn(WORDS, text);
}

export function problem(code: ProblemCode, message?: string): Problem {
  const words = WORDS[code];
  return { ...words, code, message: message || words.message };
}

/**
 * Why nothing of what the host sends can be decoded. Firefox decodes H.264 with a plugin, which it
 * downloads after its first start.
 */
export function noCodec(userAgent: string, message: string): Problem {
  const plugin = /\bFirefox\//.test(userAgent)
    ? "Firefox decodes AV1, which a host with --encoder svt-av1 sends, and H.264 once it has its " +
      "OpenH264 plugin (see about:addons, Plugins, and reload this page): "
    : "";
  return problem("no-codec", `${plugin}${message}`);
}

/** Why a relay is of no use to this browser, by the error with which it was refused. */
export function relayTrouble(url: string, code: number, text: string): string {
  switch (code) {
    case 401:
    case 438:
    case 441:
      return (
        `${url} does not take the host's credentials (${code}): they have expired, the host's ` +
        "relay.secret is not the relay's, or one of the two clocks is wrong"
      );
    // The browser's own (W3C WebRTC, RTCPeerConnectionIceErrorEvent).
    case 701:
      return `${url} does not answer`;
    default:
      return `${url} refuses: ${code} ${text}`.trim();
  }
}

/**
 * HTTP got through and the stream did not; `endpoints` are those of UDP in the host's answer, `relay` says why relays
 * were of no use.
 */
export function noUdp(endpoints: readonly string[], relay: readonly string[] = []): Problem {
  const direct = noDirectUdp(endpoints);
  const troubles = [...new Set(relay)].map((trouble) => ` A relay was no help: ${trouble}.`);
  return { ...direct, message: direct.message + troubles.join("") };
}

function noDirectUdp(endpoints: readonly string[]): Problem {
  if (endpoints.length > 0 && endpoints.every(isLoopback)) {
    return problem(
      "no-udp",
      `The host takes UDP on its machine's loopback only (${endpoints.join(", ")}): Firefox does ` +
        "not send there, and no other machine can. Start the host with --bind 0.0.0.0 and open a " +
        "link that it prints then.",
    );
  }
  const ports = [...new Set(endpoints.map((endpoint) => endpoint.replace(/^.*:/, "")))];
  const where =
    ports.length === 0
      ? "The host named no UDP address."
      : `Nothing came back from UDP port ${ports.join(" or ")} (${endpoints.join(", ")}).`;
  return problem(
    "no-udp",
    `${where} Let that port through the host's firewall, forward it where a router is in ` +
      "between (and start the host with --advertise and the address that is reached from here), and " +
      "check that this network allows UDP. The stream can come by TCP as well, at the port of this " +
      "page, unless something else answers there for the host.",
  );
}

function isLoopback(endpoint: string): boolean {
  return endpoint.startsWith("127.") || endpoint.startsWith("[::1]");
}

/** What a page goes without that came neither over HTTPS nor from this machine. */
export function missingFeatures(scope: {
  isSecureContext: boolean;
  hasGamepads: boolean;
  hasKeyboardLock: boolean;
  hasRawUpdates: boolean;
  hasTrackProcessor: boolean;
  hasDirectSound: boolean;
}): readonly string[] {
  if (scope.isSecureContext) {
    return [];
  }
  const missing: string[] = [];
  if (!scope.hasGamepads) {
    missing.push("gamepads");
  }
  if (!scope.hasKeyboardLock) {
    missing.push("Keyboard Lock (Esc and system keys)");
  }
  if (!scope.hasRawUpdates) {
    missing.push("mouse movement between frames");
  }
  if (!scope.hasTrackProcessor) {
    missing.push("exact decoding times");
  }
  if (!scope.hasDirectSound) {
    missing.push("sound without a browser's delay");
  }
  return missing;
}
