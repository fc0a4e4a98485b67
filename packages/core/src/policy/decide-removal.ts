import type { ReplicaId } from '../model/ids.js';
import { isHealthy, type Replica } from '../model/replica.js';

export type RemovalDecision =
  | { kind: 'allow' }
  | { kind: 'refuse'; code: 'replica.not_found' | 'replica.last_healthy_copy'; why: string; cure: string };

/**
 * May this copy be dropped now? Never the last full copy: what it holds exists nowhere else.
 *
 * Copies that are themselves to be dropped do not count as survivors. The API, the worker and the console ask this
 * same function.
 */
export function decideRemoval(
  replicas: readonly Pick<Replica, 'id' | 'healthyAt' | 'failedAt' | 'intent'>[],
  replicaId: ReplicaId,
): RemovalDecision {
  const replica = replicas.find(({ id }) => id === replicaId);
  if (replica === undefined) {
    const why = `the volume has no replica ${replicaId}`;
    return { kind: 'refuse', code: 'replica.not_found', why, cure: 'choose one of its replicas' };
  }
  const survivors = replicas.filter(
    (other) => other.id !== replicaId && isHealthy(other) && other.intent !== 'remove',
  );
  if (survivors.length > 0) return { kind: 'allow' };
  return {
    kind: 'refuse',
    code: 'replica.last_healthy_copy',
    why: 'no other healthy copy of the volume would be left',
    cure: 'wait until another replica is healthy, or delete the volume',
  };
}
