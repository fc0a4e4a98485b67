/**
 * Exceptions of groups for one request: nodes that can't be judged by their group's figures, because they hold a replica
 * of the volume or one of their disks can't take it.
 */
import { at } from './columns.js';
import { type DiskClassView, LEAST_FREE, LEAST_HEADROOM } from './disk-class-view.js';
import type { NodeEntry } from './node-entry.js';
import type { PlanMember } from './request-plan.js';
import type { SearchDemand } from './space-search.js';

/** Beyond this, taking nodes out of their groups costs more than it saves. */
const EXCEPTIONS_MAX = 256;

type ExceptionalNode = { readonly view: DiskClassView; readonly node: NodeEntry };
type GroupExceptions = {
  /** Groups whose figures hold once `hidden` is taken out. */
  readonly groups: readonly PlanMember[];
  /** Nodes to be taken out of those groups. */
  readonly hidden: readonly ExceptionalNode[];
  /** Nodes to be scored one by one. */
  readonly nodes: readonly NodeEntry[];
};

/** `undefined` when there are too many. */
export function groupExceptionsOf(
  members: readonly PlanMember[],
  demand: SearchDemand,
  nodeBySlot: readonly NodeEntry[],
): GroupExceptions | undefined {
  const groups: PlanMember[] = [];
  const hidden: ExceptionalNode[] = [];
  const single: NodeEntry[] = [];
  const taken = nodesWithReplicas(demand, nodeBySlot);
  for (const member of members) {
    const { view } = member;
    // A view of more than the wanted disks tells nothing exact about them.
    if (!member.isExact) {
      single.push(...view.nodes);
      continue;
    }
    groups.push(member);
    for (const node of taken) if (node.group === member.group) hidden.push({ view, node });
    if (!allHold(view, demand, 1)) collectUnfit(view, demand, 1, taken, hidden);
    if (hidden.length > EXCEPTIONS_MAX) return undefined;
  }
  return { groups, hidden, nodes: [...single, ...hidden.map(({ node }) => node)] };
}

function nodesWithReplicas(demand: SearchDemand, nodeBySlot: readonly NodeEntry[]): readonly NodeEntry[] {
  const nodes = new Set(demand.hiddenNodes.toArray());
  for (const slot of demand.hiddenSlots.toArray()) {
    const node = nodeBySlot[slot];
    if (node !== undefined) nodes.add(node);
  }
  return [...nodes];
}

/** Collects nodes with a disk that is too full for the replica, or that no replica may use, except those in `known`. */
function collectUnfit(
  view: DiskClassView,
  demand: SearchDemand,
  treeNode: number,
  known: readonly NodeEntry[],
  unfit: ExceptionalNode[],
): void {
  if (unfit.length > EXCEPTIONS_MAX || allHold(view, demand, treeNode)) return;
  const { firstLeaf } = view.tree;
  if (treeNode < firstLeaf) {
    collectUnfit(view, demand, 2 * treeNode, known, unfit);
    collectUnfit(view, demand, 2 * treeNode + 1, known, unfit);
    return;
  }
  const node = view.nodes[treeNode - firstLeaf];
  if (node !== undefined && !known.includes(node)) unfit.push({ view, node });
}

/** The keys are negated: the least headroom is at least the size when its negative is at most the negated size. */
function allHold(view: DiskClassView, demand: SearchDemand, treeNode: number): boolean {
  const { tree } = view;
  const own = treeNode * tree.width;
  return (
    at(tree.keys, own + LEAST_HEADROOM) <= -demand.sizeBytes &&
    at(tree.keys, own + LEAST_FREE) < -demand.writtenBytes
  );
}
