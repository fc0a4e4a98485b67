import type { NodeFilter, Rejection } from '../framework/framework.js';

/**
 * Rejects a node that users keep replicas away from: drained, cordoned (where the setting minds that) or being evicted. A drain
 * keeps them away whatever the setting says about cordons, since it could never end while new ones come.
 */
export const nodeSchedulableFilter: NodeFilter<'NodeDraining' | 'NodeCordoned' | 'NodeEvicting'> = {
  name: 'node-schedulable',
  description: 'Node is not drained, cordoned or being emptied',
  inIndex: 'state',
  reasons: {
    NodeDraining: {
      summary: 'node drained',
      refused: ['node is drained', 'nodes are drained'],
      cures: ({ id, name }) => [{ kind: 'uncordon-node', nodeId: id, nodeName: name }],
    },
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
      if (node.drain !== undefined) return drained(node.name);
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

function drained(name: string): Rejection<'NodeDraining'> {
  return {
    rule: 'node-schedulable',
    reason: 'NodeDraining',
    message: `node ${name} is drained`,
    cure: `uncordon ${name}, which ends its drain`,
  };
}

export function cordoned(name: string): Rejection<'NodeCordoned'> {
  return {
    rule: 'node-schedulable',
    reason: 'NodeCordoned',
    message: `node ${name} is cordoned`,
    cure: `uncordon ${name}, or set disable-scheduling-on-cordoned-node to false`,
  };
}
