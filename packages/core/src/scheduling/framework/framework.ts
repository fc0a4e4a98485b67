/**
 * The shape of a placement decision: filters → tiers → disk anti-affinity → choice.
 *
 * Everything here is pure: a frozen fleet and a request in, one disk or a refusal out. A filter is one rule in one
 * file. It prepares once per decision and then answers per node or disk, so that the cost of a rule is plain to see.
 */

import { disksByNode, nodesById } from '../../model/fleet-lookup.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import type { VolumeSpec } from '../../model/volume.js';
import type { CureChange } from './cure-change.js';
import type { PlacementRequest } from './placement-request.js';

/** Everything one decision reads. Made once by `beginCycle`. */
export type PlacementCycle = {
  readonly request: PlacementRequest;
  readonly fleet: FleetView;
  readonly profile: SchedulingProfile;
  readonly now: Date;
  readonly nodesById: ReadonlyMap<NodeId, StorageNode>;
  readonly disksByNode: ReadonlyMap<NodeId, readonly StorageDisk[]>;
};

/** The numbers a space rule compared; `thresholdBytes` is what has to stay free, or the limit of what may be booked. */
export type ComparedNumbers = {
  readonly requiredBytes: number;
  readonly availableBytes: number;
  readonly thresholdBytes: number;
};

/** Why one rule refused one candidate. `message` is for users and names what was found. */
export type Rejection<Reason extends string = string> = {
  readonly rule: string;
  readonly reason: Reason;
  readonly message: string;
  /** What would change the answer. */
  readonly cure: string;
  /** Where the rule compares numbers. */
  readonly numbers?: ComparedNumbers;
};

export type Check<Subject, Reason extends string = string> = (
  subject: Subject,
) => Rejection<Reason> | undefined;

/** How a reason reads where its refusals are counted. */
export type ReasonWords = {
  /** In a condition: "node not ready on 3 of 5 disks". */
  readonly summary: string;
  /** In a sentence, after the count: for one node or disk, and for several. */
  readonly refused: readonly [one: string, several: string];
  /** What the refused lack, where a number or a name says it: of the one that lacks least. */
  detail?(asked: PlacementAsked, numbers: ComparedNumbers | null): string;
};

/** What a sentence about a refusal may name of the request. */
export type PlacementAsked = Pick<PlacementRequest, 'nodeSelector' | 'diskSelector' | 'dataEngine'>;

/** A reason, and the changes of which any one takes it away. Without `cures`, no change of what is there can. */
export type ReasonFacts<Subject> = ReasonWords & {
  cures?(subject: Subject, context: CureContext): readonly CureChange[];
};

export type CureContext = { readonly node: StorageNode; readonly spec: VolumeSpec };

/** What users read of a rule: its name, what it asks for, and what its reasons are called. */
export type Rule<Subject, Reason extends string = string> = {
  readonly name: string;
  /** The condition that a candidate has to fulfil: "Node is not cordoned". */
  readonly description: string;
  readonly reasons: Readonly<Record<Reason, ReasonFacts<Subject>>>;
};

/** Prepares a check once per decision. */
export type Preparing<Subject, Reason extends string = string> = {
  /**
   * The check it returns runs per candidate and answers `undefined` for a pass. Returns `undefined` itself when the rule
   * has nothing to say about this request, so that skipped rules cost nothing.
   */
  prepare(cycle: PlacementCycle): Check<Subject, Reason> | undefined;
};

/**
 * How the fleet index, which does not ask every candidate, keeps a rule.
 *
 * | | |
 * |---|---|
 * | `state` | it reads nothing of the request: it is asked when a node or disk changes |
 * | `kind` | it reads of the request what `RequestKeys` tells apart, and of the candidate what makes a group or class: it is asked once for each pair of them |
 * | `search` | the search has it built in |
 * | `concerns` | a request that it concerns is answered without the index |
 */
export type IndexUse = 'state' | 'kind' | 'search' | { concerns(request: PlacementRequest): boolean };

/** One rule about nodes or disks, with all that is to be known of it. */
export type FilterPlugin<Subject, Reason extends string = string> = Rule<Subject, Reason> &
  Preparing<Subject, Reason> & { readonly inIndex: IndexUse };

export type NodeFilter<Reason extends string = string> = FilterPlugin<StorageNode, Reason>;
export type DiskFilter<Reason extends string = string> = FilterPlugin<StorageDisk, Reason>;

/** The rules of one decision, in the order in which they are asked; the first rejection is the one that is shown. */
export type RuleSet = {
  readonly nodeFilters: readonly Preparing<StorageNode>[];
  readonly diskFilters: readonly Preparing<StorageDisk>[];
};

/** The rules of a new replica. */
export type PlacementRules = {
  readonly nodeFilters: readonly NodeFilter[];
  readonly diskFilters: readonly DiskFilter[];
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
 * What differs between the schedulers that this code can be (docs/adr/0050-longhorn-rules-as-a-profile.md): plain switches, and
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
  /** Hard zones: may a replacement go to an unused node of a zone whose replicas are all being evicted? */
  readonly unusedNodeInLeavingZone: boolean;
  /** How often data that is written already counts in `usable`. */
  readonly writtenDataCounts: 'once' | 'twice';
  /** A failed replica that is already being deleted may still be taken back, and holds its disk until then. */
  readonly deletedReplicasMayReturn: boolean;
  /** Is the replica to be replaced elsewhere? */
  isLeaving(replica: Replica, cycle: PlacementCycle): boolean;
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
  | 'unused-node-in-leaving-zone'
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
  plugins: readonly Preparing<Subject>[],
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
  const { nodes, disks } = fleet;
  return { request, fleet, profile, now, nodesById: nodesById(nodes), disksByNode: disksByNode(disks) };
}
