import { isNodeReady } from '../../model/node.js';
import type { NodeFilter } from '../framework/framework.js';

/** Rejects a node whose agent is silent: nothing could be made there now. */
export const nodeReadyFilter: NodeFilter<'NodeNotReady'> = {
  name: 'node-ready',
  description: 'Node answers',
  inIndex: 'state',
  reasons: {
    NodeNotReady: {
      summary: 'node not ready',
      refused: ['node is not ready', 'nodes are not ready'],
      cures: ({ id, name }) => [{ kind: 'start-agent', nodeId: id, nodeName: name }],
    },
  },

  prepare() {
    return (node) => {
      if (isNodeReady(node)) return undefined;
      return {
        rule: 'node-ready',
        reason: 'NodeNotReady',
        message: `node ${node.name} is not ready`,
        cure: `start the agent on ${node.name}`,
      };
    };
  },
};
