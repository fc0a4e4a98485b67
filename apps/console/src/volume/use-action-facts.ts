import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { actionFactsOf } from '../actions';
import { useNodes, useSomeVolumes } from '../api/queries';
import type { Volume } from '../api/types';

/** What decides which actions a volume offers, as far as it is loaded. */
export function useActionFacts(volume: Volume): ActionFacts {
  const nodes = useNodes();
  const clones = useSomeVolumes(`sourceVolumeId=${volume.id}`);
  return actionFactsOf(volume, { nodes: nodes.data ?? [], volumes: clones.data ?? [] });
}
