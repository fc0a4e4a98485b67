import type { TopologyTerm } from '../../model/volume.js';
import type { NodeFilter } from '../framework/framework.js';

/** Rejects a node that matches none of the required topology terms. There is no fallback to other nodes. */
export const topologyFilter: NodeFilter<'TopologyMismatch'> = {
  name: 'topology',
  description: 'Node is in the required topology',
  inIndex: 'kind',
  reasons: {
    TopologyMismatch: {
      summary: 'topology not fulfilled',
      refused: ['node is outside the topology', 'nodes are outside the topology'],
    },
  },

  prepare({ request }) {
    if (request.topology.length === 0) return undefined;
    const wanted = request.topology.map(describeTerm).join(' or ');

    return (node) => {
      const matches = request.topology.some(
        (term) =>
          (term.zone === undefined || term.zone === node.zone) &&
          (term.region === undefined || term.region === node.region),
      );
      if (matches) return undefined;
      return {
        rule: 'topology',
        reason: 'TopologyMismatch',
        message: `node ${node.name} is not in ${wanted}`,
        cure: `label a node with ${wanted}`,
      };
    };
  },
};

function describeTerm(term: TopologyTerm): string {
  const parts = [
    term.region === undefined ? undefined : `region ${term.region}`,
    term.zone === undefined ? undefined : `zone ${term.zone}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'any zone' : parts.join(', ');
}
