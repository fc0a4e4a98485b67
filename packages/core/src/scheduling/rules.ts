/** The rules of a placement, in the order in which they are asked; the first rejection is the one that is shown. */

import { diskAllowSchedulingFilter } from './filters/disk-allow-scheduling.filter.js';
import { diskReadyFilter } from './filters/disk-ready.filter.js';
import { diskTagsFilter } from './filters/disk-tags.filter.js';
import { diskTypeFilter } from './filters/disk-type.filter.js';
import { engineAvailableFilter } from './filters/engine-available.filter.js';
import { fileSystemLimitFilter } from './filters/file-system-limit.filter.js';
import { freeSpaceFilter } from './filters/free-space.filter.js';
import { nodeAllowSchedulingFilter } from './filters/node-allow-scheduling.filter.js';
import { nodeReadyFilter } from './filters/node-ready.filter.js';
import { nodeSchedulableFilter } from './filters/node-schedulable.filter.js';
import { nodeTagsFilter } from './filters/node-tags.filter.js';
import { provisionableSpaceFilter } from './filters/provisionable-space.filter.js';
import { requiredNodeFilter } from './filters/required-node.filter.js';
import { reuseDiskFilter } from './filters/reuse-disk.filter.js';
import { topologyFilter } from './filters/topology.filter.js';
import type { DiskFilter, NodeFilter, PlacementRules } from './framework.js';
import { backingImageDiskFilter, backingImageNodeFilter } from './longhorn/backing-image.filter.js';
import { linkedCloneDiskFilter, linkedCloneNodeFilter } from './longhorn/linked-clone.filter.js';

const NODE_FILTERS: readonly NodeFilter[] = [
  nodeReadyFilter,
  nodeSchedulableFilter,
  nodeAllowSchedulingFilter,
  linkedCloneNodeFilter,
  requiredNodeFilter,
  topologyFilter,
  engineAvailableFilter,
];

const DISK_FILTERS: readonly DiskFilter[] = [
  reuseDiskFilter,
  diskReadyFilter,
  diskAllowSchedulingFilter,
  linkedCloneDiskFilter,
  diskTypeFilter,
  fileSystemLimitFilter,
  diskTagsFilter,
  backingImageDiskFilter,
  freeSpaceFilter,
  provisionableSpaceFilter,
];

/**
 * The rules for a new replica, or for the one disk that a request names for reuse. What a volume of an imported cluster
 * needs (its clone's source, its backing image) it needs of every scheduler.
 */
export const PLACEMENT_RULES: PlacementRules = {
  nodeFilters: NODE_FILTERS,
  nodeTagFilters: [nodeTagsFilter, backingImageNodeFilter],
  diskFilters: DISK_FILTERS,
};
