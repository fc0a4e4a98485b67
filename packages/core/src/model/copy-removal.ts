/**
 * Whether a copy may be deleted from its disk, judged by its agent: its stored record against the command's reason.
 *
 * It is not enough that the copy is in the state that the control plane decided about. A database that was restored, or that missed a
 * change, may have the very record of a copy that holds the only data. So a copy that names itself the only member is deleted only if
 * the command names a newer record of others that hold the data, or says that the data is given up.
 */
import type { ReplicaState } from './agent-protocol.js';
import { type CopyRecord, compareRecords } from './copy-record.js';
import { type FaultCode, StorageFault } from './faults.js';
import type { ReplicaId } from './ids.js';

/** Why a copy may go. */
export type RemovalReason =
  /** Others hold the data, under this record. */
  | { readonly kind: 'superseded'; readonly record: CopyRecord }
  /** A person gave the data up: the volume is deleted, or this very copy. */
  | { readonly kind: 'given-up' };

export type RemovalClaim = {
  /** State of the copy when its removal was decided. Left out: it never became a member of its volume. */
  readonly expected?: ReplicaState | undefined;
  readonly because?: RemovalReason | undefined;
};

/** The expectation of a removal that names none. */
const NEVER_MEMBER: ReplicaState = { state: 'present', record: null };

/** Why the copy must not be removed; `undefined` where it may. */
export function removalObstacle(
  replicaId: ReplicaId,
  found: ReplicaState,
  { expected, because }: RemovalClaim,
): Extract<FaultCode, 'agent.refused' | 'replica.only_current'> | undefined {
  // It is gone: a command that comes twice has nothing left to do.
  if (found.state === 'absent') return undefined;
  if (!isExpected(found, expected)) return 'agent.refused';
  if (found.state !== 'present' || found.record === null) return undefined;
  if (!isOnlyMember(replicaId, found.record) || because?.kind === 'given-up') return undefined;
  return because !== undefined && supersedes(replicaId, because.record, found.record)
    ? undefined
    : 'replica.only_current';
}

/** @throws StorageFault `agent.refused` when the copy is no longer in the expected state; `replica.only_current` */
export function requireRemovable(replicaId: ReplicaId, found: ReplicaState, claim: RemovalClaim): void {
  const code = removalObstacle(replicaId, found, claim);
  if (code === undefined) return;
  const publicMessage =
    code === 'agent.refused'
      ? 'the copy has changed: it has another record by now'
      : 'the copy records itself as the only current one, and there is no proof that others hold its data or that it was given up';
  throw new StorageFault(code, { publicMessage });
}

function isExpected(found: ReplicaState, expected: ReplicaState | undefined): boolean {
  if (expected !== undefined) return sameState(found, expected);
  return found.state === 'unreadable' || sameState(found, NEVER_MEMBER);
}

function isOnlyMember(replicaId: ReplicaId, { members }: CopyRecord): boolean {
  return members.length === 1 && members[0] === replicaId;
}

function supersedes(replicaId: ReplicaId, record: CopyRecord, own: CopyRecord): boolean {
  const holdsElsewhere = record.members.length > 0 && !record.members.includes(replicaId);
  return holdsElsewhere && compareRecords(record, own) > 0;
}

function sameState(a: ReplicaState, b: ReplicaState): boolean {
  if (a.state !== 'present' || b.state !== 'present') return a.state === b.state;
  return recordText(a.record) === recordText(b.record);
}

function recordText(record: CopyRecord | null): string {
  return record === null ? '' : `${record.epoch} ${record.dataGeneration} ${[...record.members].sort()}`;
}
