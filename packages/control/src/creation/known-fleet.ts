import type { SpaceBooking } from '@holdfast/core/lifecycle/changes.js';
import type { FleetView } from '@holdfast/core/lifecycle/views.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { ClusterId, DiskId, NodeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import { explainPlacement } from '@holdfast/core/scheduling/explanation/explain-placement.js';
import {
  type PlaceableVolume,
  type PlacementPlan,
  planPlacements,
} from '@holdfast/core/scheduling/plan-placements.js';
import type { ClusterSettings } from '@holdfast/core/settings/definitions.js';
import type { PlacementFleet } from '../ports/volume-creations.js';

/** What of a fleet has changed since it was last asked for; the first answer holds everything. */
export type FleetChanges = {
  readonly settingsVersion: number;
  /** `undefined`: the version is still the one that is known. */
  readonly settings: ClusterSettings | undefined;
  readonly nodes: readonly StorageNode[];
  readonly disks: readonly StorageDisk[];
  /** How many there are in all: fewer than known means that some are gone. */
  readonly nodeCount: number;
  readonly diskCount: number;
};

/**
 * A fleet that one process remembers between decisions, so that a decision costs what has changed and not what there is.
 *
 * It is a copy and never the truth: whoever books compares each disk with its row once more, under its lock.
 */
export class KnownFleet implements PlacementFleet {
  readonly #nodes = new Map<NodeId, StorageNode>();
  readonly #disks = new Map<DiskId, StorageDisk>();
  #settings: ClusterSettings | undefined;
  #settingsVersion = 0;
  #view: FleetView | undefined;

  constructor(private readonly clusterId: ClusterId) {}

  /** Returns false when something is gone or the settings are not known: only a whole answer can say what is left. */
  apply(changes: FleetChanges): boolean {
    this.#view = undefined;
    for (const node of changes.nodes) this.#nodes.set(node.id, node);
    for (const disk of changes.disks) this.#disks.set(disk.id, disk);
    if (changes.settings !== undefined) this.#settings = changes.settings;
    else if (changes.settingsVersion !== this.#settingsVersion) return false;
    this.#settingsVersion = changes.settingsVersion;
    return this.#nodes.size === changes.nodeCount && this.#disks.size === changes.diskCount;
  }

  get settings(): ClusterSettings {
    return this.view().settings;
  }

  zoneOf(nodeId: NodeId): string | undefined {
    return this.#nodes.get(nodeId)?.zone;
  }

  nodeVersionOf(nodeId: NodeId): number | undefined {
    return this.#nodes.get(nodeId)?.version;
  }

  place(volume: PlaceableVolume, replicas: readonly Replica[], now: Date): PlacementPlan {
    const plan = planPlacements(volume, [], replicas, this.view(), now);
    for (const { booking } of plan.placements) this.#count(booking, booking.sizeBytes);
    return plan;
  }

  explain(volume: PlaceableVolume, placed: readonly Replica[], now: Date): StoredExplanation {
    return explainPlacement({ volume, replicas: placed, fleet: this.view(), now });
  }

  /** Takes a booking back that was decided here and not made. */
  release(booking: SpaceBooking): void {
    this.#count(booking, -booking.sizeBytes);
  }

  view(): FleetView {
    if (this.#settings === undefined) throw new Bug('a fleet is asked before it is known');
    this.#view ??= {
      clusterId: this.clusterId,
      settings: this.#settings,
      settingsVersion: this.#settingsVersion,
      nodes: [...this.#nodes.values()],
      disks: [...this.#disks.values()],
    };
    return this.#view;
  }

  #count({ diskId }: SpaceBooking, bytes: number): void {
    const disk = this.#disks.get(diskId);
    if (disk === undefined) throw new Bug(`disk ${diskId} was booked and is not known`);
    this.#disks.set(diskId, { ...disk, storageScheduledBytes: disk.storageScheduledBytes + bytes });
    this.#view = undefined;
  }
}
