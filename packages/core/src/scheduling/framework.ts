/**
 * The shape of a placement decision: filters → tiers → disk anti-affinity → choice.
 *
 * Everything here is pure: a frozen fleet and a request in, one disk or a refusal out. A filter is one rule in one
 * file. It prepares once per decision and then answers per node or disk, so that the cost of a rule is plain to see.
 */

import type { DiskId, NodeId } from '../model/ids.js';
import type { DataEngine, StorageDisk, StorageNode } from '../model/node.js';
import type { Replica } from '../model/replica.js';
import type { FleetView } from '../model/views.js';
import type { DiskChoice } from '../model/volume.js';
import type { LonghornInputs } from './longhorn/longhorn-inputs.js';

/** May two replicas share a failure domain? `preferred`: only when nothing better exists. */
export type AntiAffinity = 'required' | 'preferred';

/** One field of a term that is `undefined` matches every node. */
export type TopologyTerm = { zone: string | undefined; region: string | undefined };

/** A replica that wants a disk, and what of its volume matters for the choice. */
export type PlacementRequest = {
  readonly sizeBytes: number;
  /** What the new replica will hold at once: the volume's written bytes, 0 for a new volume. */
  readonly writtenBytes: number;
  readonly dataEngine: DataEngine;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly nodeAntiAffinity: AntiAffinity;
  readonly zoneAntiAffinity: AntiAffinity;
  readonly diskAntiAffinity: AntiAffinity;
  /** Absent: `spread`, which is all that Longhorn knows. */
  readonly diskChoice?: DiskChoice;
  /** The volume's other replicas. */
  readonly replicas: readonly Replica[];
  /** The only node allowed (a pinned replica). */
  readonly requiredNodeId: NodeId | undefined;
  /** Preferred when it is in the winning tier (best-effort data locality). */
  readonly localNodeId: NodeId | undefined;
  /** Any one of them has to match; empty allows all. */
  readonly topology: readonly TopologyTerm[];
  /** Reuse of a failed replica: the one disk that holds it. Its space is booked already and is not checked. */
  readonly reuseDiskId: DiskId | undefined;
  /** Booked on a disk since its figures were taken: counts against its limit, and not in the balance. */
  readonly unrecordedBytes?: ReadonlyMap<DiskId, number>;
  /** Only for a volume of an imported Longhorn cluster. */
  readonly longhorn?: LonghornInputs;
};

/** Everything one decision reads. Made once by `beginCycle`. */
export type PlacementCycle = {
  readonly request: PlacementRequest;
  readonly fleet: FleetView;
  readonly profile: SchedulingProfile;
  readonly now: Date;
  readonly nodesById: ReadonlyMap<NodeId, StorageNode>;
  readonly disksByNode: ReadonlyMap<NodeId, readonly StorageDisk[]>;
};

export type RejectionReason =
  | 'NodeNotReady'
  | 'NodeCordoned'
  | 'NodeSchedulingDisabled'
  | 'NodeEvicting'
  | 'NodeWithoutCloneSource'
  | 'NodeNotRequired'
  | 'TopologyMismatch'
  | 'EngineUnavailable'
  | 'NodeTagsMissing'
  | 'NodeOccupied'
  | 'ZoneOccupied'
  | 'NodeWithoutDisk'
  | 'DiskNotReady'
  | 'DiskSchedulingDisabled'
  | 'DiskEvicting'
  | 'DiskNotReused'
  | 'DiskWithoutCloneSource'
  | 'DiskTypeMismatch'
  | 'FileSystemLimit'
  | 'DiskTagsMissing'
  | 'InsufficientFreeSpace'
  | 'InsufficientProvisionableSpace'
  | 'DiskOccupied';

/** Why one rule refused one candidate. `message` is for users and names what was found. */
export type Rejection = {
  readonly rule: string;
  readonly reason: RejectionReason;
  readonly message: string;
  /** What would change the answer. */
  readonly cure: string;
  /** The numbers that were compared, where the rule compares numbers. */
  readonly numbers?: {
    readonly requiredBytes: number;
    readonly availableBytes: number;
    readonly thresholdBytes: number;
  };
};

export type Check<Subject> = (subject: Subject) => Rejection | undefined;

/** One rule about nodes or disks. */
export type FilterPlugin<Subject> = {
  readonly name: string;
  /**
   * Called once per decision. The check it returns runs per candidate and answers `undefined` for a pass. Returns
   * `undefined` itself when the rule has nothing to say about this request, so that skipped rules cost nothing.
   */
  prepare(cycle: PlacementCycle): Check<Subject> | undefined;
};

export type NodeFilter = FilterPlugin<StorageNode>;
export type DiskFilter = FilterPlugin<StorageDisk>;

/** The rules of one decision, in the order in which they are asked; the first rejection is the one that is shown. */
export type RuleSet = {
  readonly nodeFilters: readonly NodeFilter[];
  readonly diskFilters: readonly DiskFilter[];
};

/** The rules of a new replica. */
export type PlacementRules = RuleSet & {
  /** Asked after occupancy is known, because a profile may leave them out on its last tier. */
  readonly nodeTagFilters: readonly NodeFilter[];
};

/** Domains that a volume's replicas may share although its anti-affinity forbids it. */
export type DomainSharing = {
  /** May the occupied node take one more, as if it were unused? */
  sharesNode(node: StorageNode): boolean;
  /** May the replacement of a replica that leaves share a zone with one that stays? */
  readonly sharesZones: boolean;
};

/**
 * What differs between the schedulers that this code can be (docs/adr/0050-two-profiles-as-data.md): plain switches, and
 * functions where a scheduler has a rule of its own. A rule asks the profile for its own switch; nothing asks for the
 * profile's name.
 */
export type SchedulingProfile = {
  readonly name: string;
  readonly rules: PlacementRules;
  /** Which of a volume's replicas occupy node and zone: all that are placed, or those on nodes that pass the filters. */
  readonly occupants: 'all-placed' | 'on-candidate-nodes';
  /** Soft disk anti-affinity once every disk holds a replica: the fewest of them, or any disk. */
  readonly sharedDisks: 'fewest-replicas' | 'any';
  readonly usedNodeTierHonoursNodeSelector: boolean;
  /** How often data that is written already counts in `usable`. */
  readonly writtenDataCounts: 'once' | 'twice';
  /** A failed replica that is already being deleted may still be taken back, and holds its disk until then. */
  readonly deletedReplicasMayReturn: boolean;
  /** Is the replica to be replaced elsewhere? */
  isLeaving(replica: Replica, fleet: FleetView): boolean;
  /** When a failed replica stops holding its place; `undefined`: not by time. */
  placeHeldUntil(replica: Replica, cycle: PlacementCycle): Date | undefined;
  /** `undefined`: anti-affinity has no exception for this request. */
  domainSharing(cycle: PlacementCycle): DomainSharing | undefined;
  /** The last step: one of the disks that passed everything. */
  chooseDisk(cycle: PlacementCycle, disks: readonly StorageDisk[]): DiskId | undefined;
};

/** One candidate that was refused. `diskId` is undefined when the whole node was. */
export type CandidateRefusal = {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly diskId: DiskId | undefined;
  readonly diskName: string | undefined;
  readonly rejection: Rejection;
};

export type TierName =
  | 'unused-node-in-unused-zone'
  | 'leaving-node-in-leaving-zone'
  | 'unused-node'
  | 'leaving-node'
  | 'used-node';

export type Placement =
  | {
      readonly kind: 'placed';
      readonly nodeId: NodeId;
      readonly diskId: DiskId;
      readonly tier: TierName;
      /** Every disk that survived the filters of the winning tier, sorted by id. */
      readonly candidates: readonly DiskId[];
    }
  | { readonly kind: 'refused'; readonly refusals: readonly CandidateRefusal[] };

/** Runs a list of rules as one: the first rejection wins. Rules that skip this request are dropped beforehand. */
export function prepareAll<Subject>(
  plugins: readonly FilterPlugin<Subject>[],
  cycle: PlacementCycle,
): Check<Subject> {
  const checks = plugins.map((plugin) => plugin.prepare(cycle)).filter((check) => check !== undefined);
  return (subject) => {
    for (const check of checks) {
      const rejection = check(subject);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
}

export function beginCycle(
  request: PlacementRequest,
  fleet: FleetView,
  profile: SchedulingProfile,
  now: Date,
): PlacementCycle {
  const disksByNode = new Map<NodeId, StorageDisk[]>();
  for (const disk of fleet.disks) {
    const disks = disksByNode.get(disk.nodeId);
    if (disks === undefined) disksByNode.set(disk.nodeId, [disk]);
    else disks.push(disk);
  }
  const nodesById = new Map(fleet.nodes.map((node) => [node.id, node]));
  return { request, fleet, profile, now, nodesById, disksByNode };
}
