/**
 * Conditional removal of a copy from its disk. Irreversible, so it runs only if the copy is still what the control
 * plane decided about: since that decision the copy may have become current again, and perhaps be the last one.
 */
import type { ReplicaState } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

/** The expectation of a delete that names none. */
const NEVER_MEMBER: ReplicaState = { state: 'present', record: null };

/** Callbacks of a removal, called one after the other in the queue in which the copy is also opened. */
export type RemovalPorts = {
  /** The copy's state now, from its open replica or from its disk. */
  state: () => Promise<ReplicaState>;
  /** Closes the copy: it can't change from then on. */
  letGo: () => Promise<void>;
  discard: () => Promise<void>;
};

/** @param expected without it, only a copy that never became a member, or can't be read, may be removed */
export function isExpected(found: ReplicaState, expected?: ReplicaState): boolean {
  if (expected !== undefined) return sameState(found, expected);
  return found.state === 'unreadable' || sameState(found, NEVER_MEMBER);
}

/**
 * Checks twice: a copy in use stays open, and one that changed while it was being closed is kept.
 *
 * @throws StorageFault `agent.refused` when the copy is no longer what was expected
 */
export async function removeIf(
  mayGo: (found: ReplicaState) => boolean,
  { state, letGo, discard }: RemovalPorts,
): Promise<void> {
  const require = async () => {
    const found = await state();
    if (found.state !== 'absent' && !mayGo(found)) throw changed();
  };
  await require();
  await letGo();
  await require();
  await discard();
}

function sameState(a: ReplicaState, b: ReplicaState): boolean {
  if (a.state !== 'present' || b.state !== 'present') return a.state === b.state;
  return recordText(a.record) === recordText(b.record);
}

function recordText(record: Extract<ReplicaState, { state: 'present' }>['record']): string {
  return record === null ? '' : `${record.epoch} ${record.dataGeneration} ${[...record.members].sort()}`;
}

function changed(): StorageFault {
  return new StorageFault('agent.refused', {
    publicMessage: 'the copy is not the one that was meant any more: it has another record by now',
  });
}
