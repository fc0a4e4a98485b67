import type { NodeFilter } from '../framework/framework.js';

/** Rejects a node whose scheduling users have switched off. */
export const nodeAllowSchedulingFilter: NodeFilter<'NodeSchedulingDisabled'> = {
  name: 'node-allow-scheduling',
  description: 'Node takes replicas',
  inIndex: 'state',
  reasons: {
    NodeSchedulingDisabled: {
      summary: 'node scheduling off',
      refused: ['node takes no replicas', 'nodes take no replicas'],
      cures: ({ id, name }) => [{ kind: 'enable-node-scheduling', nodeId: id, nodeName: name }],
    },
  },

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
