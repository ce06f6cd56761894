// The host's HTTP side: what is offered, and one session's beginning and end.

import { isProblemCode, type Problem, problem } from "../errors";
import type { Feedback } from "./feedback";
import type { Role } from "./messages";

/** `GET api/info`; without a valid token only the first fields are there. */
export interface Info {
  readonly name: string;
  readonly version: string;
  readonly token_required: boolean;
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

/** After this the host counts as unreachable. */
const ANSWER_TIMEOUT = 5000;

export class Whep {
  /** The folder of the page, so that it also works below a proxy's path. */
  readonly #base: string;
  readonly #token: () => string | undefined;

  constructor(base: string, token: () => string | undefined) {
    this.#base = base;
    this.#token = token;
  }

  async info(): Promise<Info> {
    const response = await fetch(this.#url("api/info"), {
      headers: this.#headers(),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    if (!response.ok) {
      throw await refusal(response);
    }
    return (await response.json()) as Info;
  }

  async begin(offer: Offer): Promise<Answer> {
    const response = await fetch(this.#url(`whep${offerQuery(offer)}`), {
      method: "POST",
      headers: { ...this.#headers(), "Content-Type": "application/sdp" },
      body: offer.sdp,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    if (response.status !== 201) {
      throw await refusal(response);
    }
    const session = sessionIn(response.headers.get("Location"));
    if (!session) {
      throw new Refusal(problem("unknown", "The host's answer names no session."), undefined);
    }
    return { session, sdp: await response.text() };
  }

  /** Ends a session, also while the page is being left. */
  end(session: string): void {
    fetch(this.#url(`whep/${session}`), {
      method: "DELETE",
      headers: this.#headers(),
      keepalive: true,
    }).catch(() => {
      // The host ends sessions that have fallen silent by itself.
    });
  }

  #url(path: string): string {
    return new URL(path, this.#base).href;
  }

  #headers(): Record<string, string> {
    const token = this.#token();
    return token ? { Authorization: `Bearer ${token}` } : {};
  }
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
