/**
 * Indexes of a fleet's nodes and disks by id. An index is made once for a list and kept with it: lists of a view are frozen, and one
 * plan looks up the same few nodes many times.
 */
import type { DiskId, NodeId } from './ids.js';
import type { StorageDisk, StorageNode } from './node.js';

const nodeIndexes = new WeakMap<readonly StorageNode[], ReadonlyMap<NodeId, StorageNode>>();
const diskIndexes = new WeakMap<readonly StorageDisk[], ReadonlyMap<DiskId, StorageDisk>>();
const disksOfNodes = new WeakMap<readonly StorageDisk[], ReadonlyMap<NodeId, readonly StorageDisk[]>>();

export function nodesById(nodes: readonly StorageNode[]): ReadonlyMap<NodeId, StorageNode> {
  return kept(nodeIndexes, nodes, byId<NodeId, StorageNode>);
}

export function disksById(disks: readonly StorageDisk[]): ReadonlyMap<DiskId, StorageDisk> {
  return kept(diskIndexes, disks, byId<DiskId, StorageDisk>);
}

export function disksByNode(disks: readonly StorageDisk[]): ReadonlyMap<NodeId, readonly StorageDisk[]> {
  return kept(disksOfNodes, disks, grouped);
}

function kept<List extends object, Made>(
  made: WeakMap<List, Made>,
  list: List,
  make: (list: List) => Made,
): Made {
  const known = made.get(list);
  if (known !== undefined) return known;
  const index = make(list);
  made.set(list, index);
  return index;
}

/** Of two with one id the first, as a search would find it. */
function byId<Id, Row extends { readonly id: Id }>(rows: readonly Row[]): ReadonlyMap<Id, Row> {
  const index = new Map<Id, Row>();
  for (const row of rows) if (!index.has(row.id)) index.set(row.id, row);
  return index;
}

function grouped(disks: readonly StorageDisk[]): ReadonlyMap<NodeId, readonly StorageDisk[]> {
  const groups = new Map<NodeId, StorageDisk[]>();
  for (const disk of disks) {
    const group = groups.get(disk.nodeId);
    if (group === undefined) groups.set(disk.nodeId, [disk]);
    else group.push(disk);
  }
  return groups;
}
