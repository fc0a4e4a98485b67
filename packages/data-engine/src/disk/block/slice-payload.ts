import { type Payload, payloadLength } from '../../nbd/export.js';

/** A part of a payload, without copying it. */
export function slicePayload(payload: Payload, start: number, lengthBytes: number): Payload {
  if (start === 0 && lengthBytes === payloadLength(payload)) return payload;
  const pieces: Buffer[] = [];
  let skipped = 0;
  for (const piece of payload) {
    const from = Math.max(0, start - skipped);
    const to = Math.min(piece.length, start + lengthBytes - skipped);
    if (from < to) pieces.push(piece.subarray(from, to));
    skipped += piece.length;
  }
  return pieces;
}
