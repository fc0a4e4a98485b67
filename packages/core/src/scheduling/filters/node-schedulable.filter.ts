import type { NodeFilter, Rejection } from '../framework.js';

/** Rejects a node that users keep replicas away from: cordoned (where the setting minds that) or being evicted. */
export const nodeSchedulableFilter: NodeFilter<'NodeCordoned' | 'NodeEvicting'> = {
  name: 'node-schedulable',
  description: 'Node is not cordoned or being emptied',
  inIndex: 'state',
  reasons: {
    NodeCordoned: {
      summary: 'node cordoned',
      refused: ['node is cordoned', 'nodes are cordoned'],
      cures: ({ id, name }) => [
        { kind: 'uncordon-node', nodeId: id, nodeName: name },
        { kind: 'set-setting', setting: 'disable-scheduling-on-cordoned-node', from: true, to: false },
      ],
    },
    NodeEvicting: {
      summary: 'node being emptied',
      refused: ['node is being emptied', 'nodes are being emptied'],
      cures: ({ id, name }) => [{ kind: 'cancel-node-eviction', nodeId: id, nodeName: name }],
    },
  },

  prepare({ fleet }) {
    const mindsCordon = fleet.settings['disable-scheduling-on-cordoned-node'];
    return (node) => {
      if (node.cordoned && mindsCordon) return cordoned(node.name);
      if (!node.evictionRequested) return undefined;
      return {
        rule: 'node-schedulable',
        reason: 'NodeEvicting',
        message: `node ${node.name} is being emptied`,
        cure: `cancel the eviction of ${node.name}`,
      };
    };
  },
};

export function cordoned(name: string): Rejection<'NodeCordoned'> {
  return {
    rule: 'node-schedulable',
    reason: 'NodeCordoned',
    message: `node ${name} is cordoned`,
    cure: `uncordon ${name}, or set disable-scheduling-on-cordoned-node to false`,
  };
}
