/** A linked clone shares blocks with a replica of its source, so it can live only on the very disk of one. */
import type { DiskFilter, NodeFilter } from '../framework/framework.js';

const CURE = 'wait until a replica of the source is healthy';

export const linkedCloneNodeFilter: NodeFilter<'NodeWithoutCloneSource'> = {
  name: 'linked-clone-node',
  description: 'Node holds the clone source',
  inIndex: { concerns: ({ longhorn }) => longhorn?.cloneSources !== undefined },
  reasons: {
    NodeWithoutCloneSource: {
      summary: 'no source of the linked clone on the node',
      refused: ['node lacks the clone source', 'nodes lack the clone source'],
    },
  },

  prepare({ request }) {
    const sources = request.longhorn?.cloneSources;
    if (sources === undefined) return undefined;
    const nodeIds = new Set(sources.map(({ nodeId }) => nodeId));

    return (node) => {
      if (nodeIds.has(node.id)) return undefined;
      return {
        rule: 'linked-clone-node',
        reason: 'NodeWithoutCloneSource',
        message: `node ${node.name} has no healthy replica of the clone's source`,
        cure: CURE,
      };
    };
  },
};

export const linkedCloneDiskFilter: DiskFilter<'DiskWithoutCloneSource'> = {
  name: 'linked-clone-disk',
  description: 'Disk holds the clone source',
  inIndex: { concerns: ({ longhorn }) => longhorn?.cloneSources !== undefined },
  reasons: {
    DiskWithoutCloneSource: {
      summary: 'no source of the linked clone on the disk',
      refused: ['disk lacks the clone source', 'disks lack the clone source'],
    },
  },

  prepare({ request }) {
    const sources = request.longhorn?.cloneSources;
    if (sources === undefined) return undefined;
    const diskIds = new Set(sources.map(({ diskId }) => diskId));

    return (disk) => {
      if (diskIds.has(disk.id)) return undefined;
      return {
        rule: 'linked-clone-disk',
        reason: 'DiskWithoutCloneSource',
        message: `disk ${disk.name} has no healthy replica of the clone's source`,
        cure: CURE,
      };
    };
  },
};
