/**
 * Where the volume's other replicas are, in the index's own terms. The same facts as `occupancyOf` gathers, kept in
 * lists that are used again for the next decision: a handful of entries is searched faster than a map is made.
 */
import type { DiskId, NodeId } from '../../model/ids.js';
import type { Replica } from '../../model/replica.js';
import { countsOnDisk, holdsItsPlace, isLeavingPlace, type ZoneKey } from '../occupancy.js';
import { HOLDFAST_PROFILE } from '../profile.js';
import type { DiskColumns } from './columns.js';
import type { NodeEntry } from './node-entry.js';

type Lookup = {
  readonly columns: DiskColumns;
  node(id: NodeId): NodeEntry | undefined;
  slot(id: DiskId): number | undefined;
};

export class OccupiedPlaces {
  readonly nodes: NodeEntry[] = [];
  readonly zones: ZoneKey[] = [];
  /** Disks with a replica of the volume; a disk with several stands here several times. */
  readonly slots: number[] = [];
  private readonly stayingNodes: NodeEntry[] = [];
  private readonly stayingZones: ZoneKey[] = [];

  read(replicas: readonly Replica[], waitSeconds: number, now: Date, lookup: Lookup): void {
    for (const list of [this.nodes, this.zones, this.slots, this.stayingNodes, this.stayingZones])
      list.length = 0;
    for (const replica of replicas) {
      const slot = replica.diskId === undefined ? undefined : lookup.slot(replica.diskId);
      if (slot !== undefined && countsOnDisk(replica, HOLDFAST_PROFILE)) this.slots.push(slot);

      const node = replica.nodeId === undefined ? undefined : lookup.node(replica.nodeId);
      if (node?.facts === undefined || !holdsItsPlace(replica, waitSeconds, now)) continue;
      addOnce(this.nodes, node);
      addOnce(this.zones, node.zone);
      const isDiskEvicting = slot !== undefined && lookup.columns.isEvicting(slot);
      if (isLeavingPlace(replica, node.facts.evictionRequested, isDiskEvicting)) continue;
      addOnce(this.stayingNodes, node);
      addOnce(this.stayingZones, node.zone);
    }
  }

  leavingNodes(): NodeEntry[] {
    return this.nodes.filter((node) => !this.stayingNodes.includes(node));
  }

  isLeavingZone(zone: ZoneKey): boolean {
    return this.zones.includes(zone) && !this.stayingZones.includes(zone);
  }

  replicasOn(slot: number): number {
    return this.slots.filter((other) => other === slot).length;
  }
}

function addOnce<T>(list: T[], item: T): void {
  if (!list.includes(item)) list.push(item);
}
