import { maintenanceText } from '../../policy/node-events.js';
import type { NodeFilter } from '../framework/framework.js';

/**
 * Rejects a node in its maintenance window for new replicas. One that failed there is taken back as soon as the node
 * answers: its data is there already.
 *
 * It asks whether there is a window, not for its end: the cluster's reconciler closes it, so that the fleet index, which
 * asks only when a node changes, gives the same answer.
 */
export const nodeMaintenanceFilter: NodeFilter<'NodeMaintenance'> = {
  name: 'node-maintenance',
  description: 'Node is not in maintenance',
  // Requests to take a replica back are answered without the index, so to it this rule reads nothing of the request.
  inIndex: 'state',
  reasons: {
    NodeMaintenance: {
      summary: 'node in maintenance',
      refused: ['node is in maintenance', 'nodes are in maintenance'],
      cures: ({ id, name }) => [{ kind: 'end-node-maintenance', nodeId: id, nodeName: name }],
    },
  },

  prepare({ request }) {
    if (request.reuseDiskId !== undefined) return undefined;

    return ({ name, maintenance }) => {
      if (maintenance === undefined) return undefined;
      return {
        rule: 'node-maintenance',
        reason: 'NodeMaintenance',
        message: `node ${name} is ${maintenanceText(maintenance)}`,
        cure: `end the maintenance of ${name}`,
      };
    };
  },
};
