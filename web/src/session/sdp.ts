// Lines in session descriptions.

/** The line with which a receiver asks for frames in parts, each as soon as it is coded. */
export const PARTS = "a=x-mimosa-parts";

/** The description with one more line in its section for video, if it has one. */
export function addToVideo(sdp: string, line: string): string {
  return sdp.replace(
    /^(m=video [^\r\n]*(?:\r?\n(?!m=)[^\r\n]*)*?\r?\na=mid:[^\r\n]*(\r?\n))/m,
    `$1${line}$2`,
  );
}
