import type { NodeId } from '../../model/ids.js';
import type { StorageNode, ZoneKey } from '../../model/node.js';

/** What an entry knows of the group it stands in (`node-group.ts`). */
export type EntryGroup = {
  readonly size: number;
  readonly sample: StorageNode;
  refresh(node: NodeEntry): void;
  refreshDisk(node: NodeEntry, classId: number): void;
  remove(node: NodeEntry): void;
};

/** A node as the index sees it. */
export type NodeEntry = {
  readonly id: NodeId;
  /** `undefined` for a node that only its disks have named so far: it takes nothing until it is known. */
  facts: StorageNode | undefined;
  zone: ZoneKey;
  /** Passes what no request changes: ready, not cordoned, not being emptied, scheduling allowed, engine known. */
  open: boolean;
  /** Being emptied: what stands there is to be replaced elsewhere. */
  evicting: boolean;
  /** Its disks, by id, so that the first of equals is the one with the smallest id. */
  slots: number[];
  /** Where it stands; both change when groups do. */
  group: EntryGroup | undefined;
  position: number;
};

export function unknownNode(id: NodeId): NodeEntry {
  return {
    id,
    facts: undefined,
    zone: '',
    open: false,
    evicting: false,
    slots: [],
    group: undefined,
    position: 0,
  };
}
