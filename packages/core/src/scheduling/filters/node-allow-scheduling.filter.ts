import type { NodeFilter } from '../framework.js';

/** Rejects a node whose scheduling users have switched off. */
export const nodeAllowSchedulingFilter: NodeFilter = {
  name: 'node-allow-scheduling',

  prepare() {
    return (node) => {
      if (node.allowScheduling) return undefined;
      return {
        rule: 'node-allow-scheduling',
        reason: 'NodeSchedulingDisabled',
        message: `scheduling is off on node ${node.name}`,
        cure: `allow scheduling on ${node.name}`,
      };
    };
  },
};
