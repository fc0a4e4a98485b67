import type { NodeFilter, Rejection } from '../framework.js';

/** Rejects a node that users keep replicas away from: cordoned (where the setting minds that) or being evicted. */
export const nodeSchedulableFilter: NodeFilter = {
  name: 'node-schedulable',

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

export function cordoned(name: string): Rejection {
  return {
    rule: 'node-schedulable',
    reason: 'NodeCordoned',
    message: `node ${name} is cordoned`,
    cure: `uncordon ${name}, or set disable-scheduling-on-cordoned-node to false`,
  };
}
