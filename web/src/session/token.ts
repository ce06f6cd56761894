// The token arrives in the fragment, which browsers do not send or log.

const KEY = "mimosa.token";

/** The token in a fragment such as `#token=…`. */
export function tokenIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token")?.trim() || undefined;
}

/** Takes the token out of the address bar, or else the one this tab has kept. */
export function takeToken(): string | undefined {
  const token = tokenIn(location.hash);
  if (token) {
    history.replaceState(history.state, "", location.pathname + location.search);
    keepToken(token);
    return token;
  }
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
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
