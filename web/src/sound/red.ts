// Packets that repeat earlier frames (RFC 2198).

/** A frame in such a packet. */
export interface Block {
  /** Ticks before the packet's own time. */
  readonly age: number;
  readonly data: Uint8Array;
}

/** The frames of a packet, the oldest first; undefined when it cannot be read. */
export function blocks(payload: Uint8Array): Block[] | undefined {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const headers: { readonly age: number; readonly length: number }[] = [];
  let place = 0;
  // Four bytes for each earlier frame: a bit, 7 of its payload type, 14 of its age, 10 of
  // its length; and one byte for the newest.
  while (place < view.byteLength && view.getUint8(place) >= 0x80) {
    if (place + 4 > view.byteLength) {
      return undefined;
    }
    const header = view.getUint32(place);
    headers.push({ age: (header >> 10) & 0x3fff, length: header & 0x3ff });
    place += 4;
  }
  place += 1;
  const all: Block[] = [];
  for (const { age, length } of headers) {
    if (place + length > view.byteLength) {
      return undefined;
    }
    all.push({ age, data: payload.subarray(place, place + length) });
    place += length;
  }
  return place < view.byteLength ? [...all, { age: 0, data: payload.subarray(place) }] : undefined;
}
