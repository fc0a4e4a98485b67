/**
 * Request and answer of a what-if: volumes of some shapes created, nodes, zones or disks lost or added, nodes drained, settings
 * changed.
 * Plain data in and out; `simulatePlacements` answers with the rules that place replicas, on a copy of the fleet.
 *
 * The order is fixed: settings, losses, additions and drains first, then the existing volumes get back what they lost, then the
 * new volumes are placed in the order of the request, then each shape is counted on.
 */

import type { NodeId, ReplicaId, VolumeId } from '../../model/ids.js';
import type { DiskType } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import type { Volume } from '../../model/volume.js';
import type { VolumeSpecInput } from '../../policy/volume-spec.js';
import type { SettingValue } from '../../settings/effective.js';
import type { NamedPlace, PlacementExplanation } from '../explanation/explanation.js';

/** Kinds of volumes in one request: what fits on a screen. */
export const SHAPES_MAX = 50;
/** New volumes of all shapes together. Each costs as many decisions as it has replicas. */
export const VOLUMES_MAX = 10_000;
/** Names in each list of losses: a request body stays below a few hundred KiB. */
export const LOSSES_MAX = 1_000;
/** Volumes that losses may hit in one simulation: each is placed anew, and all are read for it. */
export const EXISTING_VOLUMES_MAX = 10_000;
/** Drains in one request: as many as nodes may be added. */
export const DRAINS_MAX = 1_000;
/** Nodes that may be added, counted one by one. */
export const ADDED_NODES_MAX = 1_000;
/** Disks on one added node: more than any machine has. */
export const ADDED_DISKS_PER_NODE_MAX = 100;
/** Disks that may be added to nodes that are there, counted one by one: as many as nodes. */
export const ADDED_DISKS_MAX = 1_000;
/** Where counting on stops: "at least so many" is answer enough. */
export const HOW_MANY_MORE_MAX = 10_000;
/** Explanations that search for cures: each runs the scheduler up to CURES_TRIED_MAX times. The others go without. */
export const CURED_EXPLANATIONS_MAX = 10;
/** Placed volumes listed per shape; the count tells the rest. */
export const PLACEMENTS_SHOWN_MAX = 100;
/** Existing volumes listed per outcome. */
export const EXISTING_SHOWN_MAX = 200;
/** Nodes listed with their fill, fullest first. Zones are listed all. */
export const NODES_SHOWN_MAX = 500;

/** `count` volumes alike. Everything but size and count has the defaults of a new volume. */
export type VolumeShape = VolumeSpecInput & { readonly count: number };

export type AddedDisk = {
  readonly sizeBytes: number;
  /** Default `filesystem`. */
  readonly type?: DiskType | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Default 0. */
  readonly reservedBytes?: number | undefined;
};

/** `count` nodes alike, empty and ready. The second and later get `-2`, `-3` … behind the name. */
export type AddedNode = {
  readonly name: string;
  readonly zone?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly disks: readonly AddedDisk[];
  /** Default 1. */
  readonly count?: number | undefined;
};

/** `count` disks alike, empty and ready, for a node that is there. They are called `new-disk-1`, `new-disk-2` … */
export type DisksForNode = AddedDisk & {
  /** By id or name. */
  readonly node: string;
  /** Default 1. */
  readonly count?: number | undefined;
};

/** A node that is drained. */
export type DrainedNode = {
  /** By id or name. */
  readonly node: string;
  /** Left out: as the cluster's setting says. */
  readonly policy?: string | undefined;
};

export type SimulationRequest = {
  readonly volumes?: readonly VolumeShape[] | undefined;
  /** Nodes and disks by id or name; a disk's name is `node/disk`, or `disk` alone where only one has it. */
  readonly lose?:
    | {
        readonly nodes?: readonly string[] | undefined;
        readonly zones?: readonly string[] | undefined;
        readonly disks?: readonly string[] | undefined;
      }
    | undefined;
  readonly add?:
    | {
        readonly nodes?: readonly AddedNode[] | undefined;
        readonly disks?: readonly DisksForNode[] | undefined;
      }
    | undefined;
  readonly drain?: readonly DrainedNode[] | undefined;
  readonly settings?: Readonly<Record<string, SettingValue>> | undefined;
  /** Also count how many more of each shape would fit afterwards. */
  readonly howManyMore?: boolean | undefined;
};

/** What of an existing volume the simulation reads. */
export type ExistingVolume = {
  readonly volume: Pick<Volume, 'id' | 'name' | 'spec' | 'writtenBytes' | 'lifecycle'>;
  readonly replicas: readonly Replica[];
  /** False: it takes part, and nothing about it is told (another tenant's). */
  readonly isVisible: boolean;
};

/**
 * The cluster as it is. `volumes` may be those that have a replica on what is lost alone: the others stay as they are,
 * and their bookings are in the disks' figures.
 */
export type SimulationView = { readonly fleet: FleetView; readonly volumes: readonly ExistingVolume[] };

/** Where one new volume went: one place per replica. */
export type PlacedVolume = { readonly number: number; readonly places: readonly NamedPlace[] };

export type ShapeResult = {
  /** Place in the request, from 0. */
  readonly shape: number;
  readonly sizeBytes: number;
  readonly numberOfReplicas: number;
  readonly asked: number;
  readonly fit: number;
  /** The first PLACEMENTS_SHOWN_MAX. */
  readonly placed: readonly PlacedVolume[];
  /** The first volume that does not fit whole; null when all do. What does not fit whole books nothing. */
  readonly firstFailure: {
    readonly volumeNumber: number;
    readonly replicaNumber: number;
    readonly explanation: PlacementExplanation;
  } | null;
  /** Null unless asked for. */
  readonly howManyMore: {
    readonly count: number;
    /** True: the bound ended the count, more would fit. */
    readonly isAtLeast: boolean;
    /** Why not one more; null when the bound ended the count. */
    readonly limitedBy: string | null;
  } | null;
};

type OfVolume = { readonly volumeId: VolumeId; readonly volumeName: string };

/** A replica of an existing volume that the losses took, and where it would be built anew. */
export type ReplacedReplica = OfVolume & { readonly replicaId: ReplicaId; readonly place: NamedPlace };
/** One that fits nowhere then. */
export type StrandedReplica = OfVolume & { readonly replicaId: ReplicaId; readonly why: string };

/** A list cut to its bound, with how many there are in all. */
export type Shown<T> = { readonly total: number; readonly shown: readonly T[] };

/** The numbers count every volume; lists and their totals hold only those that the viewer may see. */
export type ExistingResult = {
  readonly volumesHit: number;
  readonly replicasLost: number;
  readonly replicasStranded: number;
  readonly volumesLost: number;
  readonly replaced: Shown<ReplacedReplica>;
  readonly stranded: Shown<StrandedReplica>;
  /** Of the first of them, with its cures; null when there is none. */
  readonly firstStranded: PlacementExplanation | null;
  /** Volumes that lose every full copy: nothing is left to rebuild them from. */
  readonly lostVolumes: Shown<OfVolume>;
};

export type Fill = {
  /** Maximum less reserve. */
  readonly capacityBytes: number;
  readonly scheduledBytes: number;
};

export type NodeFill = {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly zone: string | null;
  /** Null: it is not there then. */
  readonly before: Fill | null;
  readonly after: Fill | null;
};

export type ZoneFill = {
  readonly zone: string | null;
  readonly before: Fill | null;
  readonly after: Fill | null;
};

export type SimulationResult = {
  /** The whole answer in one plain sentence. */
  readonly sentence: string;
  /** True when every volume asked for fits and no existing replica is left without a place. */
  readonly allFit: boolean;
  readonly shapes: readonly ShapeResult[];
  readonly existing: ExistingResult;
  readonly zones: readonly ZoneFill[];
  readonly nodes: Shown<NodeFill>;
  readonly lost: { readonly nodes: number; readonly disks: number };
};
