import type { Replica } from '../../model/replica.js';
import type { LonghornReason } from './longhorn-reasons.js';

/** Why a replica must not be placed at all, whatever the fleet looks like (docs/longhorn-rules.md). */
export function refusalByGuards(
  replica: Pick<Replica, 'nodeId' | 'healthyAt' | 'failedAt'>,
): LonghornReason | undefined {
  if (replica.nodeId !== undefined) return 'replica already scheduled';
  const wasNeverHealthy = replica.healthyAt === undefined && replica.failedAt !== undefined;
  return wasNeverHealthy ? 'unused failed replica is not supported' : undefined;
}
