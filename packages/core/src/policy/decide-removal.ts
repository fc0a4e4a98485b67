import type { ReplicaId } from '../model/ids.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { lastingCopies } from '../model/volume-facts.js';
import { ALLOWED, type Decision, refuse } from './decision.js';

/**
 * May this copy be dropped now? Never the last full copy: what it holds exists nowhere else.
 *
 * Copies that are themselves to be dropped do not count as survivors. The worker asks this before it drops a copy; what
 * users ask for has to pass it too, and `decideRemovalByUser` besides.
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

/**
 * May a user have this copy dropped? Not the last full copy that is to stay either, while others are being replaced: their
 * node or disk is about to go, and a replacement that is not full yet may fail.
 */
export function decideRemovalByUser(
  view: Pick<VolumeView, 'replicas' | 'fleet'>,
  replicaId: ReplicaId,
): Decision<'replica.not_found' | 'replica.last_healthy_copy'> {
  const decision = decideRemoval(view.replicas, replicaId);
  if (decision.kind !== 'allow') return decision;
  const lasting = lastingCopies(view);
  if (lasting.length !== 1 || lasting[0]?.id !== replicaId) return decision;
  const why = 'the other healthy copies of the volume are being replaced: this is the last one that stays';
  return refuse('replica.last_healthy_copy', why, [
    'wait until a replacement is healthy',
    'take back the eviction or the drain of the others',
  ]);
}
