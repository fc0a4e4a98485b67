import type { CopyRecord } from '../model/copy-record.js';
import { StorageFault } from '../model/faults.js';
import type { ReplicaId } from '../model/ids.js';

/**
 * Members that a node may have recorded for a volume: its replicas, and members of the record before. A node that is not in
 * its owner's hands any more can't bring in copies of its own making.
 *
 * @throws StorageFault `engine.record_refused`
 */
export function requireMembersOf(
  replicaIds: readonly ReplicaId[],
  record: Pick<CopyRecord, 'members'>,
  before: Pick<CopyRecord, 'members'> | undefined,
): void {
  const known = new Set<string>([...replicaIds, ...(before?.members ?? [])]);
  const unknown = record.members.filter((member) => !known.has(member));
  if (unknown.length === 0) return;
  throw new StorageFault('engine.record_refused', {
    publicMessage: `the record names members that the volume does not have: ${unknown.slice(0, 3).join(', ')}`,
  });
}
