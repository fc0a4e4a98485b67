/**
 * Conditional removal of a copy from its disk. Irreversible, so it runs only if the copy is still what the control
 * plane decided about, and may go (`copy-removal.ts` in core): since that decision it may have become current again, and perhaps be the last one.
 */
import type { ReplicaState } from '@holdfast/core/model/agent-protocol.js';

/** Callbacks of a removal, called one after the other in the queue in which the copy is also opened. */
export type RemovalPorts = {
  /** The copy's state now, from its open replica or from its disk. */
  state: () => Promise<ReplicaState>;
  /** Closes the copy: it can't change afterwards. */
  release: () => Promise<void>;
  discard: () => Promise<void>;
};

/**
 * Checks twice: a copy in use stays open, and one that changed while it was being closed is kept.
 *
 * @param requireRemovable throws if the copy must not be removed
 */
export async function removeIf(
  requireRemovable: (found: ReplicaState) => void,
  { state, release, discard }: RemovalPorts,
): Promise<void> {
  requireRemovable(await state());
  await release();
  requireRemovable(await state());
  await discard();
}
