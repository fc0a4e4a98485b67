import type { NodeFilter } from '../framework.js';

/** Rejects every node but the one a pinned replica has to be on. */
export const requiredNodeFilter: NodeFilter = {
  name: 'required-node',

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
