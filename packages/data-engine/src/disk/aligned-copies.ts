import type { Payload } from '../nbd/export.js';
import { payloadLength } from '../nbd/export.js';
import { LEASE_BYTES_MAX, type Lease, leaseAligned } from './aligned-buffers.js';

/** Copies a payload into aligned buffers, as few as possible. Its length has to be a multiple of the alignment. */
export function leaseCopies(payload: Payload): Lease[] {
  const leases: Lease[] = [];
  let missing = payloadLength(payload);
  let lease: Lease | undefined;
  let filled = 0;
  for (const piece of payload) {
    for (let taken = 0; taken < piece.length; ) {
      if (lease === undefined) {
        lease = leaseAligned(Math.min(missing, LEASE_BYTES_MAX));
        leases.push(lease);
        filled = 0;
      }
      const copied = piece.copy(lease.buffer, filled, taken);
      filled += copied;
      taken += copied;
      missing -= copied;
      if (filled === lease.buffer.length) lease = undefined;
    }
  }
  return leases;
}
