import type { SpaceBooking } from '../../model/changes.js';
import { Bug } from '../../model/faults.js';
import type { ClusterId, DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { ClusterSettings } from '../../model/setting.js';
import type { StoredExplanation } from '../../model/stored-explanation.js';
import type { FleetView } from '../../model/views.js';
import { bookingOn } from '../../policy/space-booking.js';
import { explainPlacement } from '../explanation/explain-placement.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { type PlaceableVolume, placementRequest } from '../framework/placement-request.js';
import { assertFleetConsistent } from '../placement/fleet-consistency.js';
import { placeReplica } from '../placement/place-replica.js';
import type { PlacementPlan, PlannedPlacement } from '../placement/plan-placements.js';
import { FleetIndex } from './fleet-index.js';

/** Rows of a fleet that changed since the last read. */
export type FleetChanges = {
  readonly settingsVersion: number;
  /** `undefined`: the version is still the cached one. */
  readonly settings: ClusterSettings | undefined;
  readonly nodes: readonly StorageNode[];
  readonly disks: readonly StorageDisk[];
  /** Counts over the whole fleet: fewer than cached means that some are gone. */
  readonly nodeCount: number;
  readonly diskCount: number;
};

/** All rows of a fleet. */
export type WholeFleet = FleetChanges & { readonly settings: ClusterSettings };

/** A replica that is new holds nothing yet. */
const WRITTEN_BYTES = 0;

/**
 * Cache of a cluster's fleet with an index over it, kept between decisions, so that a decision costs what has changed
 * and not the size of the fleet.
 *
 * It may be out of date: a booking compares each disk with its row once more, under the row's lock.
 */
export class FleetCache {
  private readonly nodes = new Map<NodeId, StorageNode>();
  private readonly disks = new Map<DiskId, StorageDisk>();
  private readonly index: FleetIndex;
  private currentSettings: ClusterSettings;
  private settingsVersion: number;
  private view: FleetView | undefined;

  /** @throws StorageFault `fleet.inconsistent` */
  constructor(
    private readonly clusterId: ClusterId,
    whole: WholeFleet,
  ) {
    const { settings, settingsVersion, nodes, disks } = whole;
    assertFleetConsistent({ clusterId, settings, settingsVersion, nodes, disks });
    this.currentSettings = settings;
    this.settingsVersion = settingsVersion;
    this.index = new FleetIndex({ clusterId, settings, settingsVersion }, disks.length);
    this.put(whole);
  }

  /** @throws StorageFault `fleet.inconsistent` */
  static of({ clusterId, ...fleet }: FleetView): FleetCache {
    const { nodes, disks } = fleet;
    return new FleetCache(clusterId, { ...fleet, nodeCount: nodes.length, diskCount: disks.length });
  }

  /**
   * Returns false when something is gone: only a whole answer can say what is left.
   *
   * @throws StorageFault `fleet.inconsistent`
   */
  apply(changes: FleetChanges): boolean {
    const { settings, settingsVersion } = changes;
    if (settings !== undefined) {
      this.currentSettings = settings;
      this.settingsVersion = settingsVersion;
      this.index.useSettings(settings, settingsVersion);
    }
    const isRearranged = this.isRearranged(changes);
    this.put(changes);
    if (isRearranged) assertFleetConsistent(this.currentView());
    return this.nodes.size === changes.nodeCount && this.disks.size === changes.diskCount;
  }

  get settings(): ClusterSettings {
    return this.currentSettings;
  }

  zoneOf(nodeId: NodeId): string | undefined {
    return this.nodes.get(nodeId)?.zone;
  }

  nodeVersionOf(nodeId: NodeId): number | undefined {
    return this.nodes.get(nodeId)?.version;
  }

  place(volume: PlaceableVolume, unplaced: readonly Replica[], now: Date): PlacementPlan {
    const placements: PlannedPlacement[] = [];
    const replicas: Replica[] = [];
    for (const replica of unplaced) {
      const request = placementRequest(volume, replicas, { settings: this.currentSettings });
      const diskId = this.choose(request, now);
      if (typeof diskId !== 'string') return { placements, refusals: diskId.refusals };
      const { nodeId } = this.disk(diskId);
      const booking = this.book(diskId, replica.sizeBytes);
      placements.push({ nodeId, booking });
      replicas.push({ ...replica, nodeId, diskId });
    }
    return { placements, refusals: undefined };
  }

  explain(volume: PlaceableVolume, placed: readonly Replica[], now: Date): StoredExplanation {
    return explainPlacement({ volume, replicas: placed, fleet: this.currentView(), now });
  }

  /** Takes a booking back that was decided here and not made. */
  release({ diskId, sizeBytes }: SpaceBooking): void {
    this.count(diskId, -sizeBytes);
    this.index.release(diskId, { sizeBytes, writtenBytes: WRITTEN_BYTES });
  }

  /** The index answers at once where something fits; what it leaves open is asked of every disk, and refused in words. */
  private choose(request: PlacementRequest, now: Date): DiskId | Pick<PlacementPlan, 'refusals'> {
    const fast = this.index.place(request, now);
    if (fast.kind === 'placed') return fast.diskId;
    const placement = placeReplica(request, this.currentView(), now);
    return placement.kind === 'placed' ? placement.diskId : { refusals: placement.refusals };
  }

  /** Figures and states can't break a fleet; what there is, its names and where it belongs can. */
  private isRearranged({ nodes, disks }: FleetChanges): boolean {
    return (
      nodes.some(({ id, name }) => this.nodes.get(id)?.name !== name) ||
      disks.some(({ id, nodeId }) => this.disks.get(id)?.nodeId !== nodeId)
    );
  }

  private put({ nodes, disks }: FleetChanges): void {
    if (nodes.length === 0 && disks.length === 0) return;
    this.view = undefined;
    for (const node of nodes) {
      this.nodes.set(node.id, node);
      this.index.putNode(node);
    }
    for (const disk of disks) {
      this.disks.set(disk.id, disk);
      this.index.putDisk(disk);
    }
  }

  private book(diskId: DiskId, sizeBytes: number): SpaceBooking {
    const shell = { settings: this.currentSettings, settingsVersion: this.settingsVersion };
    const booking = bookingOn(this.disk(diskId), sizeBytes, shell);
    this.count(diskId, sizeBytes);
    this.index.book(diskId, { sizeBytes, writtenBytes: WRITTEN_BYTES });
    return booking;
  }

  private count(diskId: DiskId, bytes: number): void {
    const disk = this.disk(diskId);
    this.disks.set(diskId, { ...disk, storageScheduledBytes: disk.storageScheduledBytes + bytes });
    this.view = undefined;
  }

  private disk(diskId: DiskId): StorageDisk {
    const disk = this.disks.get(diskId);
    if (disk === undefined) throw new Bug(`disk ${diskId} was chosen and is not known`);
    return disk;
  }

  private currentView(): FleetView {
    this.view ??= {
      clusterId: this.clusterId,
      settings: this.currentSettings,
      settingsVersion: this.settingsVersion,
      nodes: [...this.nodes.values()],
      disks: [...this.disks.values()],
    };
    return this.view;
  }
}
