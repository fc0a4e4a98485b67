import type { NodeFilter } from '../framework.js';

/** Rejects a node whose agent has never said where it can be reached: no replica could be made there. */
export const engineAvailableFilter: NodeFilter = {
  name: 'engine-available',

  prepare() {
    return (node) => {
      if (node.controlUrl !== undefined) return undefined;
      return {
        rule: 'engine-available',
        reason: 'EngineUnavailable',
        message: `node ${node.name} has no data engine`,
        cure: `start the agent on ${node.name}`,
      };
    };
  },
};
