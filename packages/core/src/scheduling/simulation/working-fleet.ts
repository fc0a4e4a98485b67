/**
 * Working copy of a fleet, in which each placement sees the bookings of those before it. It decides with the index,
 * which gives the scheduler's own answers; nothing outside of it changes.
 */

import { Bug } from '../../model/faults.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { explainPlacement, explainWithoutCures } from '../explanation/explain-placement.js';
import type { NamedPlace, PlacementExplanation } from '../explanation/explanation.js';
import { namedPlace } from '../explanation/named-place.js';
import { type PlaceableVolume, placementRequest } from '../framework/placement-request.js';
import { buildFleetIndex, type FleetIndex } from '../index/fleet-index.js';
import { CURED_EXPLANATIONS_MAX } from './simulation.js';

/** What a replica takes of a disk: promised at once, and written. */
export type Claim = { readonly sizeBytes: number; readonly writtenBytes: number };

export class WorkingFleet {
  private readonly disks: StorageDisk[];
  private readonly nodesById: ReadonlyMap<NodeId, StorageNode>;
  private readonly positions: ReadonlyMap<DiskId, number>;
  private readonly index: FleetIndex;
  private searchesLeft = CURED_EXPLANATIONS_MAX;
  readonly view: FleetView;

  constructor(
    fleet: FleetView,
    private readonly now: Date,
  ) {
    this.disks = [...fleet.disks];
    this.nodesById = new Map(fleet.nodes.map((node) => [node.id, node]));
    this.positions = new Map(fleet.disks.map(({ id }, position) => [id, position]));
    // The view shares the array that the bookings change.
    this.view = { ...fleet, disks: this.disks };
    this.index = buildFleetIndex(fleet);
  }

  /** Where one more replica beside those would go at that time. */
  find(volume: PlaceableVolume, replicas: readonly Replica[], now = this.now): StorageDisk | undefined {
    const request = placementRequest(volume, replicas, this.view);
    const placement = this.index.place(request, now);
    return placement.kind === 'placed' ? this.diskAt(placement.diskId).disk : undefined;
  }

  book(diskId: DiskId, claim: Claim): void {
    this.change(diskId, claim.sizeBytes, claim.writtenBytes);
  }

  release(diskId: DiskId, claim: Claim): void {
    this.change(diskId, -claim.sizeBytes, -claim.writtenBytes);
  }

  named(disk: StorageDisk): NamedPlace {
    return namedPlace(disk, this.nodesById);
  }

  /** Cures are searched for as long as the simulation's allowance of searches lasts. */
  explain(
    volume: PlaceableVolume,
    replicas: readonly Replica[],
    cures: 'searched' | 'left-out' = 'searched',
    now = this.now,
  ): PlacementExplanation {
    // Lists of a fleet are indexed once each, so an explanation gets a list of its own: the view's changes with bookings.
    const fleet = { ...this.view, disks: [...this.disks] };
    const question = { volume, replicas, fleet, now };
    if (cures === 'left-out' || this.searchesLeft === 0) return explainWithoutCures(question);
    this.searchesLeft -= 1;
    return explainPlacement(question);
  }

  private change(diskId: DiskId, sizeBytes: number, writtenBytes: number): void {
    const { disk, position } = this.diskAt(diskId);
    const booked = {
      ...disk,
      storageScheduledBytes: disk.storageScheduledBytes + sizeBytes,
      storageAvailableBytes: disk.storageAvailableBytes - writtenBytes,
      writtenBytes: disk.writtenBytes + writtenBytes,
    };
    this.disks[position] = booked;
    // A booking alone costs the index less than a disk whose free space has changed too.
    if (writtenBytes === 0) this.index.book(diskId, { sizeBytes, writtenBytes });
    else this.index.putDisk(booked);
  }

  private diskAt(diskId: DiskId): { disk: StorageDisk; position: number } {
    const position = this.positions.get(diskId);
    const disk = position === undefined ? undefined : this.disks[position];
    if (position === undefined || disk === undefined) throw new Bug(`the fleet has no disk ${diskId}`);
    return { disk, position };
  }
}
