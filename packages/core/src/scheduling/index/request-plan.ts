/**
 * Plan of a kind of request: the groups and disk classes that it may use, which is all that a decision depends on
 * besides space and the volume's other replicas. Requests of one kind share it, so that selectors are matched once and
 * not per decision.
 */
import type { StorageDisk, StorageNode } from '../../model/node.js';
import { PLACEMENT_RULES } from '../filters/rules.js';
import { type PlacementCycle, prepareAll } from '../framework/framework.js';
import type { DiskClassView } from './disk-class-view.js';
import type { DiskClasses } from './disk-classes.js';
import type { EntryGroup } from './node-entry.js';
import type { NodeGroup } from './node-group.js';

/** Rules of which a sample answers for its whole group or class, and one request for all of its kind. */
const { nodeFilters, nodeTagFilters, diskFilters } = PLACEMENT_RULES;
const GROUP_FILTERS = [...nodeFilters, ...nodeTagFilters].filter(({ inIndex }) => inIndex === 'kind');
const CLASS_FILTERS = diskFilters.filter(({ inIndex }) => inIndex === 'kind');

export type PlanMember = {
  readonly group: NodeGroup;
  readonly view: DiskClassView;
  /** The view holds the wanted classes and no others: its sums are exact where every disk holds the request. */
  readonly isExact: boolean;
};

export type RequestPlan = {
  readonly members: readonly PlanMember[];
  readonly groups: ReadonlySet<EntryGroup>;
  /** By class number: 1 where the request may use it. */
  readonly isWanted: Uint8Array;
};

export function planRequest(
  cycle: PlacementCycle,
  groups: Iterable<NodeGroup>,
  classes: DiskClasses,
): RequestPlan {
  const checkNode = prepareAll<StorageNode>(GROUP_FILTERS, cycle);
  const checkDisk = prepareAll<StorageDisk>(CLASS_FILTERS, cycle);
  const wanted = classes.passing((sample) => checkDisk(sample) === undefined);
  const isWanted = new Uint8Array(Math.max(0, ...wanted) + 1);
  for (const classId of wanted) isWanted[classId] = 1;

  const members: PlanMember[] = [];
  const matching = new Set<EntryGroup>();
  for (const group of groups) {
    if (checkNode(group.sample) !== undefined) continue;
    matching.add(group);
    const inGroup = group.diskClasses().filter((classId) => wanted.has(classId));
    if (inGroup.length === 0) continue;
    const view = group.view(inGroup);
    members.push({ group, view, isExact: view.wanted.length === inGroup.length });
  }
  // Scores add up shares in the order of the capacities; members that come so save them the sorting.
  if (cycle.fleet.settings['balance-alpha'] !== 1) {
    for (const { view } of members) view.keepLeastValues();
    members.sort((a, b) => capacityOf(a) - capacityOf(b));
  }
  return { members, groups: matching, isWanted };
}

function capacityOf({ view }: PlanMember): number {
  return view.totals?.totalBytes ?? 0;
}
