import type { NodeFilter } from '../framework.js';
import { tagsMatch } from '../tags.js';

/** Rejects a node that lacks a tag of the volume's node selector. */
export const nodeTagsFilter: NodeFilter = {
  name: 'node-tags',

  prepare({ request, fleet }) {
    const { nodeSelector } = request;
    const allowEmpty = fleet.settings['allow-empty-node-selector-volume'];
    if (nodeSelector.length === 0 && allowEmpty) return undefined;

    return (node) => {
      if (tagsMatch(node.tags, nodeSelector, allowEmpty)) return undefined;
      const isReserved = nodeSelector.length === 0;
      return {
        rule: 'node-tags',
        reason: 'NodeTagsMissing',
        message: isReserved
          ? `node ${node.name} is kept for volumes that select its tags`
          : `node ${node.name} lacks a tag of [${nodeSelector.join(', ')}]`,
        cure: isReserved
          ? 'give the volume a node selector, or set allow-empty-node-selector-volume to true'
          : `tag ${node.name} with ${nodeSelector.join(', ')}`,
      };
    };
  },
};
