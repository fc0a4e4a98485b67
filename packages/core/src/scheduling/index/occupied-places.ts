/**
 * Occupancy of nodes, zones and disks by the volume's other replicas, in the index's own terms. The same facts as
 * `occupancyOf` gathers, kept in lists that are used again for the next decision: a handful of entries is searched
 * faster than a map is made.
 */

import { isDrainedAway } from '../../model/drained-copies.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageNode, ZoneKey } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import { isLeavingPlace } from '../../model/volume-facts.js';
import { countsOnDisk, holdsItsPlace } from '../framework/occupancy.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import type { DiskColumns } from './columns.js';
import type { NodeEntry } from './node-entry.js';
import { ShortList } from './short-list.js';

type Lookup = {
  readonly columns: DiskColumns;
  readonly nodeBySlot: readonly NodeEntry[];
  node(id: NodeId): NodeEntry | undefined;
  slot(id: DiskId): number | undefined;
};

export class OccupiedPlaces {
  readonly nodes = new ShortList<NodeEntry>();
  readonly zones = new ShortList<ZoneKey>();
  /** Disks with a replica of the volume; a disk with several stands here several times. */
  readonly slots = new ShortList<number>();
  private readonly stayingNodes = new ShortList<NodeEntry>();
  private readonly stayingZones = new ShortList<ZoneKey>();

  read(replicas: readonly Replica[], waitSeconds: number, now: Date, lookup: Lookup): void {
    this.nodes.clear();
    this.zones.clear();
    this.slots.clear();
    this.stayingNodes.clear();
    this.stayingZones.clear();
    const facts = { waitSeconds, replicas, nodeOf: (id: NodeId | undefined) => factsOf(id, lookup) };
    for (const replica of replicas) {
      const slot = replica.diskId === undefined ? undefined : lookup.slot(replica.diskId);
      if (slot !== undefined && countsOnDisk(replica, HOLDFAST_PROFILE)) this.slots.add(slot);

      const node = nodeOfReplica(replica, slot, lookup);
      if (node?.facts === undefined || !holdsItsPlace(replica, facts, now)) continue;
      this.nodes.addOnce(node);
      this.zones.addOnce(node.zone);
      const isDiskEvicting = slot !== undefined && lookup.columns.isEvicting(slot);
      const isNodeEmptied =
        node.evicting || (node.facts.drain !== undefined && isDrainedAway(replica, facts));
      if (isLeavingPlace(replica, isNodeEmptied, isDiskEvicting)) continue;
      this.stayingNodes.addOnce(node);
      this.stayingZones.addOnce(node.zone);
    }
  }

  leavingNodes(): NodeEntry[] {
    return this.nodes.toArray().filter((node) => !this.stayingNodes.has(node));
  }

  hasLeavingZone(): boolean {
    return this.zones.toArray().some((zone) => !this.stayingZones.has(zone));
  }

  isLeavingZone(zone: ZoneKey): boolean {
    return this.zones.has(zone) && !this.stayingZones.has(zone);
  }

  replicasOn(slot: number): number {
    return this.slots.toArray().filter((other) => other === slot).length;
  }
}

function factsOf(id: NodeId | undefined, lookup: Lookup): StorageNode | undefined {
  return id === undefined ? undefined : lookup.node(id)?.facts;
}

/** Nearly always the node of the replica's disk, which saves a look-up. */
function nodeOfReplica({ nodeId }: Replica, slot: number | undefined, lookup: Lookup): NodeEntry | undefined {
  if (nodeId === undefined) return undefined;
  const ofDisk = slot === undefined ? undefined : lookup.nodeBySlot[slot];
  return ofDisk?.id === nodeId ? ofDisk : lookup.node(nodeId);
}
