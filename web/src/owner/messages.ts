// What the host tells its owner, and what the owner asks: docs/embed/protocol.md, "The owner's page".

export interface Setting {
  readonly name: string;
  readonly group: string;
  readonly comment: string;
  /** What the value must be, in words with each choice in backquotes. */
  readonly must: string;
  readonly default: string;
  readonly value: string;
  /** A flag or a variable that wins over the file. */
  readonly fixed_by: string | null;
  /** The host that runs has another value. */
  readonly waits: boolean;
}

export interface Listed {
  readonly number: number;
  readonly device: string | null;
  readonly role: string;
  readonly address: string | null;
  /** Milliseconds. */
  readonly lasts: number;
  readonly bitrate: number;
  readonly round_trip: number | null;
}

export interface Device {
  readonly name: string;
  readonly role: string;
  /** Seconds since 1970. */
  readonly paired: number;
}

export interface Owned {
  readonly settings: readonly Setting[];
  /** Why there are no settings. */
  readonly trouble: string | null;
  readonly sessions: readonly Listed[];
  /** Null where no device can pair. */
  readonly devices: readonly Device[] | null;
  readonly pairs: boolean;
  readonly pin: { readonly pin: string; readonly seconds: number } | null;
  readonly invitation: { readonly url: string; readonly code: readonly string[] } | null;
  /** A version that is newer than the host's. */
  readonly update: { readonly version: string; readonly page: string | null } | null;
}

export type Wish =
  | { readonly setting: { readonly name: string; readonly value: string } }
  | { readonly revoke: { readonly name: string } }
  | { readonly rename: { readonly name: string; readonly to: string } }
  | { readonly end: { readonly number: number } }
  | { readonly pin: Record<string, never> };

/** The choices in `must`, if it lists nothing else: "`on` or `off`". */
export function choices(must: string): readonly string[] {
  const list = /^`[^`]+`(?:(?:, | or )`[^`]+`)*$/.test(must);
  return list ? [...must.matchAll(/`([^`]+)`/g)].map(([, choice = ""]) => choice) : [];
}

/** `3 min`, `2 h 5 min`, of milliseconds. */
export function span(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) {
    return `${Math.floor(milliseconds / 1000)} s`;
  }
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The modules of a code as the path of a drawing with one unit a module. */
export function codePath(code: readonly string[]): string {
  const runs = code.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(
      ({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`,
    ),
  );
  return runs.join("");
}
