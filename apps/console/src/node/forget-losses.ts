/** Volumes that may lose data with a node, to be confirmed by a user before it is forgotten. */
import type { Volume } from '../api/types';

export type PossibleLoss = {
  readonly volumeId: string;
  readonly name: string;
  /** `all`: no other full copy is left. `newest`: those that are left may lack the newest writes. */
  readonly kind: 'all' | 'newest';
};

type HeldVolume = Pick<Volume, 'id' | 'name' | 'numberOfReplicas'> & {
  readonly replicas: readonly Pick<
    Volume['replicas'][number],
    'nodeId' | 'intent' | 'healthyAt' | 'lastHealthyAt' | 'failedAt'
  >[];
};

/**
 * May list more than the API's rule, never less: the members of a volume's last record are not shown to users, so as many as it has
 * copies are assumed. The API judges the acceptance, and its plan lists the losses.
 */
export function possibleLosses(nodeId: string, volumes: readonly HeldVolume[]): PossibleLoss[] {
  return volumes
    .flatMap((volume): PossibleLoss[] => {
      const kind = lossOf(nodeId, volume);
      return kind === undefined ? [] : [{ volumeId: volume.id, name: volume.name, kind }];
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function lossOf(
  nodeId: string,
  { replicas, numberOfReplicas }: HeldVolume,
): PossibleLoss['kind'] | undefined {
  const filled = replicas.filter(
    ({ intent, healthyAt, lastHealthyAt }) =>
      intent !== 'remove' && (healthyAt !== null || lastHealthyAt !== null),
  );
  if (!filled.some((replica) => replica.nodeId === nodeId)) return undefined;
  const elsewhere = filled.filter((replica) => replica.nodeId !== nodeId);
  if (elsewhere.length === 0) return 'all';
  const current = elsewhere.filter(({ healthyAt, failedAt }) => healthyAt !== null && failedAt === null);
  const members = Math.max(numberOfReplicas, replicas.length);
  return current.length > 0 && current.length * 2 >= members ? undefined : 'newest';
}
