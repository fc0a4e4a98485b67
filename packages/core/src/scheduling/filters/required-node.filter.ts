import type { NodeFilter } from '../framework/framework.js';

/** Rejects every node but the one a pinned replica has to be on. */
export const requiredNodeFilter: NodeFilter<'NodeNotRequired'> = {
  name: 'required-node',
  description: 'Node is the required one',
  inIndex: 'search',
  reasons: {
    NodeNotRequired: {
      summary: 'pinned to another node',
      refused: ['node is not the one it is pinned to', 'nodes are not the one it is pinned to'],
    },
  },

  prepare({ request, nodesById }) {
    const { requiredNodeId } = request;
    if (requiredNodeId === undefined) return undefined;
    const wanted = nodesById.get(requiredNodeId)?.name ?? requiredNodeId;

    return (node) => {
      if (node.id === requiredNodeId) return undefined;
      return {
        rule: 'required-node',
        reason: 'NodeNotRequired',
        message: `the replica has to be on node ${wanted}`,
        cure: `make room on ${wanted}`,
      };
    };
  },
};
