// The token arrives in the fragment, which browsers do not send or log, or comes of a pairing.

const KEY = "mimosa.token";
const DEVICE_KEY = "mimosa.device";

/** What the page knows, to prove it to the host. */
export interface Credential {
  /** The host's name for this device; undefined for tokens that the host printed. */
  readonly id?: string | undefined;
  readonly token: string;
}

/** The token in a fragment such as `#token=…`. */
export function tokenIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token")?.trim() || undefined;
}

/** Takes the token out of the address bar, or else the one this tab or this browser has kept. */
export function takeToken(): Credential | undefined {
  const token = tokenIn(location.hash);
  if (token) {
    history.replaceState(history.state, "", location.pathname + location.search);
    keepToken(token);
    return { token };
  }
  try {
    const kept = sessionStorage.getItem(KEY);
    return kept ? { token: kept } : deviceIn(localStorage.getItem(DEVICE_KEY));
  } catch {
    return undefined;
  }
}

/** The device's token in what the browser has kept. */
export function deviceIn(kept: string | null): Credential | undefined {
  try {
    const { id, token } = JSON.parse(kept ?? "{}") as Partial<Credential>;
    return typeof id === "string" && typeof token === "string" ? { id, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the token until the tab is closed. */
export function keepToken(token: string): void {
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // Storage can be forbidden; the token then lasts until the next reload.
  }
}

/** Keeps a device's token until the browser forgets this site's data. */
export function keepDevice(device: Credential): void {
  try {
    sessionStorage.removeItem(KEY);
    localStorage.setItem(DEVICE_KEY, JSON.stringify(device));
  } catch {
    // As above.
  }
}
