/** A backing image has selectors of its own: a replica on top of it needs a place that the image may be copied to. */

import type { DiskFilter, NodeFilter } from '../framework/framework.js';
import { tagsMatch } from '../framework/tags.js';
import { diskTagsFilter } from './disk-tags.filter.js';
import { nodeTagsFilter } from './node-tags.filter.js';

export const backingImageNodeFilter: NodeFilter<'NodeTagsMissing'> = {
  name: 'backing-image-node',
  description: 'Backing image may go to the node',
  inIndex: { concerns: ({ longhorn }) => longhorn?.backingImage !== undefined },
  reasons: nodeTagsFilter.reasons,

  prepare({ request, fleet }) {
    const image = request.longhorn?.backingImage;
    if (image === undefined) return undefined;
    const allowEmpty = fleet.settings['allow-empty-node-selector-volume'];

    return (node) => {
      if (tagsMatch(node.tags, image.nodeSelector, allowEmpty)) return undefined;
      return {
        rule: 'backing-image-node',
        reason: 'NodeTagsMissing',
        message: `the backing image may not go to node ${node.name}`,
        cure: `let the node selector of the backing image match ${node.name}`,
      };
    };
  },
};

export const backingImageDiskFilter: DiskFilter<'DiskTagsMissing'> = {
  name: 'backing-image-disk',
  description: 'Backing image may go to the disk',
  inIndex: { concerns: ({ longhorn }) => longhorn?.backingImage !== undefined },
  reasons: diskTagsFilter.reasons,

  prepare({ request, fleet }) {
    const image = request.longhorn?.backingImage;
    if (image === undefined) return undefined;
    const allowEmpty = fleet.settings['allow-empty-disk-selector-volume'];

    return (disk) => {
      if (tagsMatch(disk.tags, image.diskSelector, allowEmpty)) return undefined;
      return {
        rule: 'backing-image-disk',
        reason: 'DiskTagsMissing',
        message: `the backing image may not go to disk ${disk.name}`,
        cure: `let the disk selector of the backing image match disk ${disk.name}`,
      };
    };
  },
};
