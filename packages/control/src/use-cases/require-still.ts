import type { LeftKind } from '@holdfast/access/left-behind.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { UserId } from '@holdfast/core/model/ids.js';
import type { AccessTransaction } from '../ports/access-store.js';

/**
 * Asked where something is made that works on after the request: the right may have been lost since the request was let in, and must not be
 * lost before the transaction ends.
 *
 * @throws StorageFault `auth.forbidden`
 */
export async function requireStill(
  transaction: AccessTransaction,
  kind: LeftKind,
  userId: UserId,
): Promise<void> {
  if (await transaction.mayStill(kind, userId)) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: 'your role in the organization was changed at the same moment',
    cures: ['ask an admin of the organization'],
  });
}
