import type { ReplicaId } from '../model/ids.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { ALLOWED, type Decision, refuse } from './decision.js';

/**
 * May this copy be dropped now? Never the last full copy: what it holds exists nowhere else.
 *
 * Copies that are themselves to be dropped do not count as survivors. The API and the worker ask this same
 * function.
 */
export function decideRemoval(
  replicas: readonly Pick<Replica, 'id' | 'healthyAt' | 'failedAt' | 'intent'>[],
  replicaId: ReplicaId,
): Decision<'replica.not_found' | 'replica.last_healthy_copy'> {
  const replica = replicas.find(({ id }) => id === replicaId);
  if (replica === undefined) {
    return refuse('replica.not_found', `the volume has no replica ${replicaId}`, [
      'choose one of its replicas',
    ]);
  }
  const survivors = replicas.filter(
    (other) => other.id !== replicaId && isHealthy(other) && other.intent !== 'remove',
  );
  if (survivors.length > 0) return ALLOWED;
  return refuse('replica.last_healthy_copy', 'no other healthy copy of the volume would be left', [
    'wait until another replica is healthy, or delete the volume',
  ]);
}
