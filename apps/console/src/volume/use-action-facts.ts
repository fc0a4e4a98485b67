import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { actionFactsOf } from '../actions';
import { useNodes, useVolumes } from '../api/queries';
import type { Volume } from '../api/types';

/** What decides which actions a volume offers, as far as it is loaded. */
export function useActionFacts(volume: Volume): ActionFacts {
  const nodes = useNodes();
  const volumes = useVolumes();
  return actionFactsOf(volume, { nodes: nodes.data ?? [], volumes: volumes.data ?? [] });
}
