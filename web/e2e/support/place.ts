// Where a program runs.

/** What stands before the program's command line. */
export type Place = readonly string[];

// Both nice values: one counts within the processes of a session, one among sessions.
const FIRST = 'echo -15 >/proc/self/autogroup; exec nice -n -15 "$0" "$@"';

/**
 * A place that `enter` leads to. What runs there comes before whatever else the
 * machine does: what is looked at there is the path.
 */
export function placeBehind(...enter: string[]): Place {
  return ["sh", "-c", FIRST, ...enter];
}

/** The command line that runs `command` in a place, if one is given. */
export function at(place: Place | undefined, command: string[]): string[] {
  return [...(place ?? []), ...command];
}
