// Header extensions that a browser has, but does not offer by itself.

/** Says of each frame what it refers to, so that a lost one need not stop the rest. */
const DEPENDENCIES =
  "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension";

/** Offers the dependency descriptor, where the browser has it and lets one choose. */
export function enableDependencies(transceiver: RTCRtpTransceiver): void {
  const extensions = transceiver.getHeaderExtensionsToNegotiate?.();
  if (!extensions?.some(({ uri }) => uri === DEPENDENCIES)) {
    return;
  }
  transceiver.setHeaderExtensionsToNegotiate?.(
    extensions.map((extension) =>
      extension.uri === DEPENDENCIES ? { ...extension, direction: "sendrecv" } : extension,
    ),
  );
}
