/**
 * Explanation of a placement: why a replica is where it is, or why it has no place and what would change that. Plain
 * data: it is stored with an unscheduled replica and sent as it is by the API, so optional values are `null` and times
 * are ISO 8601 texts.
 *
 * `explainPlacement` makes it, with the same rules that place replicas.
 */
import type { DiskId, NodeId, ReplicaId } from '../../model/ids.js';
import type { DiskType } from '../../model/node.js';
import type { CureChange } from '../framework/cure-change.js';
import type { ComparedNumbers, TierName } from '../framework/framework.js';

/** Refused candidates listed per filter: what one looks at in a table. The counts tell the rest. */
export const REJECTIONS_SHOWN_MAX = 20;
/** Candidates whose scores are shown: the winner and the next best. */
export const SCORES_SHOWN_MAX = 5;
/** Cures shown: more than a screenful is no advice. */
export const CURES_SHOWN_MAX = 12;
/** Changes that are tried by running the scheduler. Each run looks at every disk once, so this bounds the whole search. */
export const CURES_TRIED_MAX = 64;

/** A disk with the names users know it by. */
export type NamedPlace = {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly zone: string | null;
  readonly diskId: DiskId;
  readonly diskName: string;
};

/** One candidate that a filter refused. `diskId` is null when the whole node was. */
export type FilterRejection = {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly diskId: DiskId | null;
  readonly diskName: string | null;
  readonly reason: string;
  readonly message: string;
  readonly numbers: ComparedNumbers | null;
};

/** What one filter rejected. It was asked only about what the filters before it had let pass. */
export type FilterReport = {
  readonly name: string;
  /** What the rule asks for, for users. Absent in an explanation that an older version stored. */
  readonly description?: string;
  readonly subject: 'node' | 'disk';
  /** False: the filter does not concern this replica, and was not asked. */
  readonly applies: boolean;
  readonly asked: number;
  readonly rejected: number;
  /** How often each reason was given, most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** At most REJECTIONS_SHOWN_MAX: those that lack the fewest bytes, where bytes decide, then by name of node and disk. */
  readonly rejections: readonly FilterRejection[];
};

export type TierOutcome =
  | 'won'
  /** No node is on this tier. */
  | 'no-node'
  /** There are nodes, and none of their disks passed. */
  | 'no-disk'
  /** A tier before it had a disk. */
  | 'not-needed';

/** One anti-affinity tier, in the order in which they are tried. */
export type TierReport = {
  readonly name: TierName;
  /** What the tier asks for, for users. */
  readonly description: string;
  readonly nodes: number;
  /** Disks of those nodes that passed every rule; 0 for a tier that was not needed. */
  readonly candidates: number;
  readonly outcome: TierOutcome;
};

/** What one choice would do to the balance; lower scores are better. `absolute` and `ratio` are unweighted. */
export type ScoreParts = {
  readonly usableBeforeBytes: number;
  readonly usableAfterBytes: number;
  readonly absolute: number;
  readonly ratio: number;
  /** α · absolute + (1 − α) · ratio */
  readonly score: number;
};

/** A candidate of the winning tier: its node among the nodes, then the disk among that node's disks. */
export type ScoredCandidate = NamedPlace & {
  readonly isChosen: boolean;
  readonly node: ScoreParts;
  readonly disk: ScoreParts;
};

/** A smallest change after which the replica has a place. The scheduler has been run with it. */
export type Cure = {
  /** What to do and where that leads. */
  readonly sentence: string;
  /** One change; two where no single one to what is there would do. */
  readonly changes: readonly CureChange[];
  /** Where the replica would go. */
  readonly leadsTo: CuredPlace;
};

/** As `NamedPlace`, but hardware that is yet to be bought has no id. */
export type CuredPlace = {
  readonly nodeId: NodeId | null;
  readonly nodeName: string;
  readonly zone: string | null;
  readonly diskId: DiskId | null;
  readonly diskName: string;
  readonly tier: TierName;
};

export type PlacementExplanation = {
  /** The whole answer in one plain sentence. */
  readonly sentence: string;
  readonly outcome: 'placed' | 'unplaced';
  /** The replica in question; null for one that does not exist yet. */
  readonly replicaId: ReplicaId | null;
  /** When the question was asked. */
  readonly at: string;
  readonly asked: {
    readonly sizeBytes: number;
    readonly writtenBytes: number;
    readonly dataEngine: 'v1' | 'v2';
    readonly diskType: DiskType;
    readonly nodeSelector: readonly string[];
    readonly diskSelector: readonly string[];
  };
  /** Where it would go (or is); null when it fits nowhere. */
  readonly place: NamedPlace | null;
  /** The tier that won; null when none did. */
  readonly tier: TierName | null;
  readonly filters: readonly FilterReport[];
  readonly tiers: readonly TierReport[];
  readonly alpha: number;
  /** Best first, at most SCORES_SHOWN_MAX; empty when nothing fits. */
  readonly scores: readonly ScoredCandidate[];
  /** Smallest first (`rankOfChange`), at most CURES_SHOWN_MAX; empty when it is placed. */
  readonly cures: readonly Cure[];
  readonly cureSearch: {
    readonly tried: number;
    readonly triedMax: number;
    /** False: the bound ended the search, so smaller cures may exist. */
    readonly isComplete: boolean;
  };
};
