/**
 * The nodes of some groups that are unlike the rest of their group for one request: they hold a replica of the volume,
 * or one of their disks can't take it.
 */
import { at } from './columns.js';
import { type DiskClassView, LEAST_FREE, LEAST_HEADROOM } from './disk-class-view.js';
import type { NodeEntry } from './node-entry.js';
import type { PlanMember } from './request-plan.js';
import type { SearchDemand } from './space-search.js';

/** Beyond, taking nodes out of their groups costs more than it saves. */
const OUTSIDERS_MAX = 256;

type Outsider = { readonly view: DiskClassView; readonly node: NodeEntry };
export type Outsiders = {
  /** The groups whose other nodes are alike. */
  readonly groups: readonly PlanMember[];
  /** To be taken out of those groups. */
  readonly hidden: readonly Outsider[];
  /** Nodes that stand for themselves. */
  readonly nodes: readonly NodeEntry[];
};

/** `undefined` when there are too many. */
export function outsidersOf(
  members: readonly PlanMember[],
  demand: SearchDemand,
  nodeBySlot: readonly NodeEntry[],
): Outsiders | undefined {
  const groups: PlanMember[] = [];
  const hidden: Outsider[] = [];
  const nodes: NodeEntry[] = [];
  const taken = new Set([...demand.hiddenNodes, ...demand.hiddenSlots.map((slot) => nodeBySlot[slot])]);
  for (const member of members) {
    const { view } = member;
    // A view of more than the wanted disks tells nothing exact about them.
    if (!member.isExact) {
      nodes.push(...view.nodes);
      continue;
    }
    groups.push(member);
    const unlike = new Set<NodeEntry>();
    for (const node of taken) if (node?.group === member.group) unlike.add(node);
    collectUnfit(view, demand, 1, unlike);
    for (const node of unlike) {
      hidden.push({ view, node });
      nodes.push(node);
    }
    if (hidden.length > OUTSIDERS_MAX) return undefined;
  }
  return { groups, hidden, nodes };
}

/** Nodes with a disk that is too full for the replica, or that no replica may use. */
function collectUnfit(view: DiskClassView, demand: SearchDemand, at_: number, unfit: Set<NodeEntry>): void {
  if (unfit.size > OUTSIDERS_MAX) return;
  const { tree } = view.leastValues();
  const own = at_ * tree.width;
  // The keys are negated: the least headroom is above the size when its negative is below the negated size.
  const allHold =
    at(tree.keys, own + LEAST_HEADROOM) <= -demand.sizeBytes &&
    at(tree.keys, own + LEAST_FREE) < -demand.writtenBytes;
  if (allHold) return;
  if (at_ < tree.firstLeaf) {
    collectUnfit(view, demand, 2 * at_, unfit);
    collectUnfit(view, demand, 2 * at_ + 1, unfit);
    return;
  }
  const node = view.nodes[at_ - tree.firstLeaf];
  if (node !== undefined) unfit.add(node);
}
