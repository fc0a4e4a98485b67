import type { NodeId, SnapshotId } from '@holdfast/core/model/ids.js';

/**
 * Secrets that admit a node to a copy, derived from the key that the copy and the control plane share. The key itself is sent to the
 * copy's agent when the copy is made, and to no engine.
 */
export interface CopySecrets {
  /** For the engine of one attachment: another epoch or another node has another one. */
  forEngine(key: string, engine: { epoch: number; nodeId: NodeId }): string;
  /** For a node that clones one snapshot, to whichever node the copy's volume is attached meanwhile. */
  forSnapshot(key: string, reader: { snapshotId: SnapshotId; nodeId: NodeId }): string;
}
