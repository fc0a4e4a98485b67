import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '@holdfast/control/ports/clock.js';

export const systemClock: Clock = { now: () => new Date() };

const SECRET_BYTES = 24;

export const systemRandom: Random = {
  id: () => uuidV7(Date.now(), randomBytes(16)),
  secret: () => randomBytes(SECRET_BYTES).toString('base64url'),
};

/** A UUID whose first 48 bits are the time in milliseconds (RFC 9562), so that ids sort by age. */
export function uuidV7(timeMs: number, random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes.writeUIntBE(timeMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
