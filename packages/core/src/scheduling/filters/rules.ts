/** The rules of a placement, in the order in which they are asked; the first rejection is the one that is shown. */

import { Bug } from '../../model/faults.js';
import type { DiskFilter, NodeFilter, PlacementRules, ReasonWords } from '../framework/framework.js';
import {
  diskAntiAffinityRule,
  nodeAntiAffinityRule,
  nodeHasDiskRule,
  zoneAntiAffinityRule,
} from '../framework/sharing-rules.js';
import { backingImageDiskFilter, backingImageNodeFilter } from './backing-image.filter.js';
import { diskAllowSchedulingFilter } from './disk-allow-scheduling.filter.js';
import { diskReadyFilter } from './disk-ready.filter.js';
import { diskTagsFilter } from './disk-tags.filter.js';
import { diskTypeFilter } from './disk-type.filter.js';
import { engineAvailableFilter } from './engine-available.filter.js';
import { fileSystemLimitFilter } from './file-system-limit.filter.js';
import { freeSpaceFilter } from './free-space.filter.js';
import { linkedCloneDiskFilter, linkedCloneNodeFilter } from './linked-clone.filter.js';
import { nodeAllowSchedulingFilter } from './node-allow-scheduling.filter.js';
import { nodeMaintenanceFilter } from './node-maintenance.filter.js';
import { nodeReadyFilter } from './node-ready.filter.js';
import { nodeSchedulableFilter } from './node-schedulable.filter.js';
import { nodeTagsFilter } from './node-tags.filter.js';
import { provisionableSpaceFilter } from './provisionable-space.filter.js';
import { requiredNodeFilter } from './required-node.filter.js';
import { reuseDiskFilter } from './reuse-disk.filter.js';
import { topologyFilter } from './topology.filter.js';

const NODE_FILTERS = [
  nodeReadyFilter,
  nodeSchedulableFilter,
  nodeMaintenanceFilter,
  nodeAllowSchedulingFilter,
  linkedCloneNodeFilter,
  requiredNodeFilter,
  topologyFilter,
  engineAvailableFilter,
] as const satisfies readonly NodeFilter[];

const NODE_TAG_FILTERS = [nodeTagsFilter, backingImageNodeFilter] as const satisfies readonly NodeFilter[];

const DISK_FILTERS = [
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
] as const satisfies readonly DiskFilter[];

/** Held by the tiers and at the end of a decision. */
const SHARING_RULES = [
  nodeAntiAffinityRule,
  zoneAntiAffinityRule,
  nodeHasDiskRule,
  diskAntiAffinityRule,
] as const;

/**
 * The rules for a new replica, or for the one disk that a request names for reuse. What a volume of an imported cluster
 * needs (its clone's source, its backing image) it needs of every scheduler.
 */
export const PLACEMENT_RULES: PlacementRules = {
  nodeFilters: NODE_FILTERS,
  nodeTagFilters: NODE_TAG_FILTERS,
  diskFilters: DISK_FILTERS,
};

const ALL_RULES = [...NODE_FILTERS, ...NODE_TAG_FILTERS, ...DISK_FILTERS, ...SHARING_RULES];

/** Codes of refusals. They are API: add freely, never rename or reuse one. */
export type RejectionReason = ReasonOf<(typeof ALL_RULES)[number]>;
type ReasonOf<R> = R extends { reasons: infer Reasons } ? keyof Reasons : never;

const WORDS: ReadonlyMap<string, ReasonWords> = new Map(
  ALL_RULES.flatMap(({ reasons }) => Object.entries<ReasonWords>(reasons)),
);

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  ALL_RULES.map(({ name, description }) => [name, description]),
);

/** @param reason of a refusal by one of these rules */
export function wordsOf(reason: string): ReasonWords {
  const words = WORDS.get(reason);
  if (words === undefined) throw new Bug(`no rule gives the reason ${reason}`);
  return words;
}

/** What the rule asks for. A rule that is not one of these is described by its name. */
export function descriptionOfRule(name: string): string {
  return DESCRIPTIONS.get(name) ?? name;
}
