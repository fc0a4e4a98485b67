import type { NodeFilter } from '../framework/framework.js';
import { tagsMatch } from '../framework/tags.js';
import { missingTagCures, selectorInWords } from './missing-tags.js';

/** Rejects a node that lacks a tag of the volume's node selector. */
export const nodeTagsFilter: NodeFilter<'NodeTagsMissing'> = {
  name: 'node-tags',
  description: 'Node has the wanted tags',
  inIndex: 'kind',
  reasons: {
    NodeTagsMissing: {
      summary: 'node tags not fulfilled',
      refused: ['node does not match the node selector', 'nodes do not match the node selector'],
      detail: ({ nodeSelector }) => selectorInWords(nodeSelector),
      cures: ({ id, name, tags }, { spec }) =>
        missingTagCures(spec, {
          tags,
          selector: 'nodeSelector',
          setting: 'allow-empty-node-selector-volume',
          tagIt: (missing) => ({ kind: 'tag-node', tags: missing, nodeId: id, nodeName: name }),
        }),
    },
  },

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
