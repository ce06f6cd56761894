// The host's HTTP side: what is offered, and one session's beginning and end.

import { isProblemCode, type Problem, problem } from "../errors";
import type { Feedback } from "./feedback";
import type { Role } from "./messages";
import { type Bytes, Secret, shown } from "./proof";
import type { Credential } from "./token";

/** `GET api/info`; without a valid token only the first fields are there. */
export interface Info {
  readonly name: string;
  readonly version: string;
  readonly token_required: boolean;
  /** Whether the host shows a PIN to whoever asks. */
  readonly pairing?: boolean;
  /** Whether the page has the owner's token. */
  readonly owner?: boolean;
  /** Whether there is a relay. */
  readonly relay?: boolean;
  readonly source?: string;
  readonly width?: number;
  readonly height?: number;
  readonly fps?: number;
  readonly player_present?: boolean;
  readonly viewers?: number;
  readonly viewer_limit?: number;
}

export interface Offer {
  readonly sdp: string;
  readonly role: Role;
  readonly feedback: Feedback;
  /** This page's earlier session, which the new one ends. */
  readonly replaces: string | undefined;
}

export interface Answer {
  readonly session: string;
  readonly sdp: string;
}

/** The host answered, and the answer is no. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly problem: Problem;
  /** How many milliseconds to wait before the next attempt. */
  readonly retryAfter: number | undefined;

  constructor(refused: Problem, retryAfter: number | undefined) {
    super(refused.message);
    this.problem = refused;
    this.retryAfter = retryAfter;
  }
}

/** How long credentials for the relay are used again, in milliseconds; they are good for a day. */
const RELAYS_KEPT = 3_600_000;
/** After this the host counts as unreachable. */
const ANSWER_TIMEOUT = 5000;

/** A request as it is sent, with what its answer is checked with. */
interface Sent {
  readonly response: Response;
  readonly body: Bytes;
  /** Whether whoever answered knows the token; undefined where the page has none. */
  readonly proven: boolean | undefined;
  /** The secret of the session that has begun. */
  readonly session: Secret | undefined;
}

export class Whep {
  /** The folder of the page, so that it also works below a proxy's path. */
  readonly #base: string;
  readonly #credential: () => Credential | undefined;
  /** The secrets of sessions, and how many requests were sent within each. */
  readonly #sessions = new Map<string, { readonly secret: Secret; requests: number }>();
  /** Whether this machine's own host asks nobody for a token. */
  #open = false;
  #hasRelay = false;
  #relays: { readonly servers: RTCIceServer[]; readonly at: number } | undefined;

  constructor(base: string, credential: () => Credential | undefined) {
    this.#base = base;
    this.#credential = credential;
  }

  async info(): Promise<Info> {
    const { response, body, proven } = await this.#send("GET", "api/info");
    if (!response.ok) {
      throw await refusal(new Response(body, response));
    }
    const info = JSON.parse(new TextDecoder().decode(body)) as Info;
    // To whoever does not know the token a host only tells its name.
    if (proven === false && info.source !== undefined) {
      if (info.token_required || !isThisMachine(this.#base)) {
        throw new Refusal(problem("not-proven"), undefined);
      }
      this.#open = true;
    }
    this.#hasRelay = info.relay ?? false;
    return info;
  }

  /** The relays that the page may use; only a host that knows the page has any. */
  async relays(): Promise<RTCIceServer[]> {
    if (!this.#hasRelay) {
      return [];
    }
    if (this.#relays && performance.now() - this.#relays.at < RELAYS_KEPT) {
      return this.#relays.servers;
    }
    const { response, body, proven } = await this.#send("GET", "api/relay");
    if (!response.ok) {
      throw await refusal(new Response(body, response));
    }
    if (proven === false) {
      throw new Refusal(problem("not-proven"), undefined);
    }
    const told = JSON.parse(new TextDecoder().decode(body)) as { ice_servers: RTCIceServer[] };
    this.#relays = { servers: told.ice_servers, at: performance.now() };
    return told.ice_servers;
  }

  /** Other credentials are asked for next time. */
  forgetRelays(): void {
    this.#relays = undefined;
  }

  /** Asks what only a proven request may, and gives the answer's JSON. */
  async ask(method: "GET" | "POST", target: string, asked?: object): Promise<unknown> {
    const text = asked && JSON.stringify(asked);
    const { response, body, proven } = await this.#send(method, target, text, "application/json");
    if (!response.ok) {
      throw await refusal(new Response(body, response));
    }
    if (proven !== true) {
      throw new Refusal(problem("not-proven"), undefined);
    }
    return body.length > 0 ? JSON.parse(new TextDecoder().decode(body)) : undefined;
  }

  async begin(offer: Offer): Promise<Answer> {
    const target = `whep${offerQuery(offer)}`;
    const sent = await this.#send("POST", target, offer.sdp);
    const { response, body } = sent;
    if (response.status !== 201) {
      throw await refusal(new Response(body, response));
    }
    if (sent.proven === false) {
      throw new Refusal(problem("not-proven"), undefined);
    }
    const session = sessionIn(response.headers.get("Location"));
    if (!session) {
      throw new Refusal(problem("unknown", "The host's answer names no session."), undefined);
    }
    if (sent.session) {
      this.#sessions.set(session, { secret: sent.session, requests: 0 });
    }
    return { session, sdp: new TextDecoder().decode(body) };
  }

  /** Ends a session, also while the page is being left. */
  end(session: string): void {
    void this.#within(session, "DELETE");
    this.#sessions.delete(session);
  }

  /** Tells the host of further candidates of a session. */
  trickle(session: string, candidates: readonly string[]): Promise<void> {
    const lines = candidates.map((candidate) => `a=${candidate}\r\n`);
    return this.#within(session, "PATCH", lines.join(""));
  }

  /** A request within a session, whose answer says nothing new. */
  async #within(session: string, method: "DELETE" | "PATCH", text = ""): Promise<void> {
    const target = `whep/${session}`;
    const known = this.#sessions.get(session);
    const headers: Record<string, string> = text
      ? { "Content-Type": "application/trickle-ice-sdpfrag" }
      : {};
    if (known) {
      known.requests += 1;
      const asked = { method, target, body: new TextEncoder().encode(text) };
      headers.Authorization = shown(known.secret, `${known.requests}`, asked);
    }
    const body = text ? { body: text } : {};
    await fetch(this.#url(target), { method, headers, keepalive: true, ...body }).catch(() => {
      // The host ends sessions that have fallen silent by itself.
    });
  }

  /** Sends a request with its proof, if there is a token, and checks the answer's. */
  async #send(
    method: string,
    target: string,
    text?: string,
    type = "application/sdp",
  ): Promise<Sent> {
    const known = this.#open ? undefined : this.#credential();
    const asked = { method, target, body: new TextEncoder().encode(text ?? "") };
    const headers: Record<string, string> = text ? { "Content-Type": type } : {};
    const secret = known && Secret.ofToken(known.token);
    const nonce = secret ? await this.#challenge() : "";
    if (secret) {
      headers.Authorization = shown(secret, nonce, asked, known?.id);
    }
    const response = await fetch(this.#url(target), {
      method,
      headers,
      ...(text ? { body: text } : {}),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    const body = new Uint8Array(await response.arrayBuffer());
    const session = sessionIn(response.headers.get("Location")) ?? "";
    const answered = { status: response.status, session, body };
    const proof = response.headers.get("Mimosa-Proof");
    const proven = secret && proof === secret.answer(nonce, asked.body, answered);
    return { response, body, proven, session: secret?.session(nonce) };
  }

  /** A nonce of the host's, for one proof. */
  async #challenge(): Promise<string> {
    const response = await fetch(this.#url("api/challenge"), {
      method: "POST",
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    if (!response.ok) {
      throw await refusal(response);
    }
    return ((await response.json()) as { nonce: string }).nonce;
  }

  #url(path: string): string {
    return new URL(path, this.#base).href;
  }
}

/** Whether the page comes from the machine that it is seen on: nobody is on that way. */
function isThisMachine(address: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}

export function offerQuery({ role, feedback, replaces }: Offer): string {
  const query = new URLSearchParams({ role, feedback });
  if (replaces) {
    query.set("replaces", replaces);
  }
  return `?${query}`;
}

/** The ID at the end of `Location: whep/ID`. */
export function sessionIn(address: string | null): string | undefined {
  return /([^/?#]+)\/?(?:[?#].*)?$/.exec(address ?? "")?.[1];
}

/** Reads an error of the host, or of whatever stands in front of it. */
export async function refusal(response: Response): Promise<Refusal> {
  let code: unknown;
  let message: string | undefined;
  try {
    const body = (await response.json()) as { error?: unknown; message?: unknown };
    code = body.error;
    message = typeof body.message === "string" ? body.message : undefined;
  } catch {
    // Not the host's JSON: a proxy's page, say.
  }
  const known = isProblemCode(code) ? code : codeOf(response.status);
  const text = known === "unknown" && !message ? `HTTP status ${response.status}.` : message;
  return new Refusal(problem(known, text), waitOf(response.headers.get("Retry-After")));
}

function codeOf(status: number) {
  switch (status) {
    case 401:
      return "token-missing";
    case 403:
      return "token-wrong";
    case 429:
      return "too-many-requests";
    case 502:
    case 503:
    case 504:
      return "unreachable";
    default:
      return "unknown";
  }
}

function waitOf(header: string | null): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
