/**
 * Removing a copy from its disk, which can't be undone: only while it still is what the control plane decided about. Between
 * its decision and this moment the copy may have become current again, and perhaps be the last one.
 */
import type { ReplicaState } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

/** What a delete without an expectation is about. */
const NEVER_MEMBER: ReplicaState = { state: 'present', record: null };

/** All three are called one after the other, in a queue in which the copy is opened too. */
export type RemovalPorts = {
  /** By what whoever has the copy open, or its disk, says at this moment. */
  state: () => Promise<ReplicaState>;
  /** Closes it: nothing can change it from then on. */
  letGo: () => Promise<void>;
  discard: () => Promise<void>;
};

/** @param expected without one only what never became a member of its volume, or can't be read, may go */
export function isExpected(found: ReplicaState, expected?: ReplicaState): boolean {
  if (expected !== undefined) return sameState(found, expected);
  return found.state === 'unreadable' || sameState(found, NEVER_MEMBER);
}

/**
 * Looks twice: a copy that is in use is left in use, and one that changed while it was being closed is kept.
 *
 * @throws StorageFault `agent.refused` when it is something else by now
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
