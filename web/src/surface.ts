// What automation may look at: `window.mimosa`.

import type { Problem, ProblemCode } from "./errors";
import type { Client, Role, Statistics } from "./session/messages";
import type { Session, State } from "./session/session";

/**
 * Read-only and always current. Buttons are pressed as a person presses them:
 * `#card-actions button[data-action=play]` (or `watch`, `retry`,
 * `start-picture`), `#play`, `#fullscreen`, `#statistics-toggle`, `#leave`.
 *
 * The page's address may say `?role=view` (watch, at once) and
 * `?feedback=twcc-02`, `twcc-01` or `none` (what to begin with instead of `rfc8888`).
 */
export interface Surface {
  /**
   * - `idle`: nothing asked for yet
   * - `connecting`: the first attempt is under way; also while autoplay waits
   * - `playing`, `watching`: a frame of the present session has been shown
   * - `reconnecting`: a later attempt is under way or will be
   * - `failed`: `error` says why; a person has to do something
   * - `ended`: by the host's notice or by leaving
   */
  readonly state: State;
  /** Also while `idle`, when the host asks for a token, and with autoplay refused. */
  readonly error: { readonly code: ProblemCode; readonly message: string } | null;
  readonly role: Role;
  /** The host's ID of the present session. */
  readonly session: string | null;
  /** The host's last message `statistics` in the present session. */
  readonly statistics: Statistics | null;
  /** The page's last message `client` in the present session. */
  readonly client: Client | null;
  /** Frames shown in the present session. */
  readonly shown: number;
  /** Sessions lost after a picture had been seen, for whatever reason. */
  readonly reconnects: number;
  /** Whether keys and pointer go to the game. */
  readonly taken: boolean;
  readonly pc: RTCPeerConnection | null;
}

declare global {
  interface Window {
    mimosa: Surface;
  }
}

export function exposeSurface(
  session: Session,
  problem: () => Problem | undefined,
  taken: () => boolean,
): void {
  window.mimosa = {
    get state() {
      return session.state;
    },
    get error() {
      const { code, message } = problem() ?? {};
      return code && message !== undefined ? { code, message } : null;
    },
    get role() {
      return session.role;
    },
    get session() {
      return session.id ?? null;
    },
    get statistics() {
      return session.statistics ?? null;
    },
    get client() {
      return session.measured?.client ?? null;
    },
    get shown() {
      return session.shown;
    },
    get reconnects() {
      return session.reconnects;
    },
    get taken() {
      return taken();
    },
    get pc() {
      return session.peer ?? null;
    },
  };
}
