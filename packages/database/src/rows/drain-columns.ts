/** Drain of a node, as its two columns hold it. */
import type { DrainWait, NodeDrain, NodeDrainStatus } from '@holdfast/core/model/node-drain.js';
import { orUndefined, type Stored } from './json.js';

export type DrainColumns = {
  drain: Stored<NodeDrain> | null;
  drain_status: (Omit<Stored<NodeDrainStatus>, 'waitingFor'> & { waitingFor: StoredWait[] }) | null;
};
/** JSON has no `undefined`: it leaves the field out. */
type StoredWait = Omit<DrainWait, 'replicaId'> & { replicaId?: DrainWait['replicaId'] | null };

export function readDrain(stored: DrainColumns['drain']): NodeDrain | undefined {
  if (stored === null) return undefined;
  const { policy, requestedAt, wasCordoned } = stored;
  return { policy, requestedAt: new Date(requestedAt), wasCordoned };
}

/** Field by field: JSONB keeps no order, and has no `undefined`, while a status is compared with the next one. */
export function readDrainStatus(stored: DrainColumns['drain_status']): NodeDrainStatus | undefined {
  if (stored === null) return undefined;
  const { state, since, progress, waitingCount, waitingFor } = stored;
  const { replicasToMove, replicasMoved, bytesToMove, bytesMoved } = progress;
  return {
    state,
    since: new Date(since),
    progress: { replicasToMove, replicasMoved, bytesToMove, bytesMoved },
    waitingCount,
    waitingFor: waitingFor.map(readWait),
  };
}

function readWait({ volumeId, volumeName, replicaId, reason, message, cures }: StoredWait): DrainWait {
  return { volumeId, volumeName, replicaId: orUndefined(replicaId ?? null), reason, message, cures };
}
