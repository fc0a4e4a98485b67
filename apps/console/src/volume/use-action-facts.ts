import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { actionFactsOf } from '../actions';
import { useNodesById } from '../api/node-queries';
import { useSomeVolumes } from '../api/queries';
import type { StorageNode, Volume } from '../api/types';

/**
 * Facts that decide a volume's actions, as far as they are loaded: of nodes those that serve the volume or hold its copies.
 *
 * @param others further nodes that an action needs
 */
export function useActionFacts(volume: Volume, others: readonly StorageNode[] = []): ActionFacts {
  const nodes = useNodesById([volume.attachedNodeId, ...volume.replicas.map(({ nodeId }) => nodeId)]);
  const clones = useSomeVolumes(`sourceVolumeId=${volume.id}`);
  const own = nodes.data ?? [];
  const more = others.filter(({ id }) => own.every((node) => node.id !== id));
  return actionFactsOf(volume, { nodes: [...own, ...more], volumes: clones.data ?? [] });
}
