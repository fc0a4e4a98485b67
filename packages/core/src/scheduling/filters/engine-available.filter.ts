import type { NodeFilter } from '../framework/framework.js';

/** Rejects a node whose agent has never said where it can be reached: no replica could be made there. */
export const engineAvailableFilter: NodeFilter<'EngineUnavailable'> = {
  name: 'engine-available',
  description: 'Node has a data engine',
  inIndex: 'state',
  reasons: {
    EngineUnavailable: {
      summary: 'no data engine',
      refused: ['node has no data engine', 'nodes have no data engine'],
      cures: ({ id, name }) => [{ kind: 'start-agent', nodeId: id, nodeName: name }],
    },
  },

  prepare() {
    return (node) => {
      if (node.controlUrl !== undefined) return undefined;
      return {
        rule: 'engine-available',
        reason: 'EngineUnavailable',
        message: `node ${node.name} has no data engine`,
        cure: `start the agent on ${node.name}`,
      };
    };
  },
};
