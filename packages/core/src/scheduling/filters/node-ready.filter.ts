import { isNodeReady } from '../../model/node.js';
import type { NodeFilter } from '../framework.js';

/** Rejects a node whose agent is silent: nothing could be made there now. */
export const nodeReadyFilter: NodeFilter = {
  name: 'node-ready',

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
