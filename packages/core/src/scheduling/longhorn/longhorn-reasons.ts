/**
 * A refusal in Longhorn's words. Longhorn collects reasons over all anti-affinity tiers without saying which candidate
 * gave which, and gives none for tags of nodes and for anti-affinity; so the list may be empty.
 */

import type { RejectionReason } from '../filters/rules.js';
import type { CandidateRefusal } from '../framework/framework.js';
import type { PlacementRequest } from '../framework/placement-request.js';

export type LonghornReason =
  | 'insufficient storage'
  | 'disks are unavailable'
  | 'tags not fulfilled'
  | 'nodes are unavailable'
  | 'none of the node candidates contains a ready engine image'
  | 'hard affinity cannot be satisfied'
  | 'topology requirement cannot be satisfied'
  | 'linked clone replica cannot be satisfied'
  | 'incompatible volume size'
  | 'replica already scheduled'
  | 'unused failed replica is not supported'
  | 'longhorn client operation failed';

/** For some of the reasons. Refusals name theirs as a plain text, so any text may be asked for. */
type ByReason<T> = Readonly<Partial<Record<RejectionReason, T>> & Record<string, T | undefined>>;

/** How far a node got: the rules about nodes in their order. What is not listed passed them all. */
const STAGE_OF: ByReason<number> = {
  NodeNotReady: 0,
  NodeDraining: 0,
  NodeCordoned: 0,
  NodeEvicting: 0,
  NodeSchedulingDisabled: 0,
  NodeWithoutCloneSource: 1,
  NodeNotRequired: 2,
  TopologyMismatch: 3,
  EngineUnavailable: 4,
};
const PASSED_ALL = 5;

/** Reasons of disks that Longhorn lists and then refuses. A disk that is not even listed gives none of its own. */
const DISK_REASON: ByReason<LonghornReason> = {
  DiskTypeMismatch: 'disks are unavailable',
  FileSystemLimit: 'incompatible volume size',
  DiskTagsMissing: 'tags not fulfilled',
  InsufficientFreeSpace: 'insufficient storage',
  InsufficientProvisionableSpace: 'insufficient storage',
};

/** A node with nothing but these has no disk at all as far as Longhorn can see. */
const UNLISTED: ReadonlySet<string> = new Set<RejectionReason>([
  'NodeWithoutDisk',
  'DiskNotReady',
  'DiskSchedulingDisabled',
  'DiskEvicting',
  'DiskNotReused',
  'DiskWithoutCloneSource',
]);

/** Sorted, each once. */
export function longhornReasons(
  request: PlacementRequest,
  refusals: readonly CandidateRefusal[],
): readonly LonghornReason[] {
  const stage = furthestStage(refusals);
  if (stage < PASSED_ALL) return [reasonOfStage(request, stage)];

  const reasons = new Set<LonghornReason>();
  for (const ofNode of groupByNode(refusals)) {
    if (ofNode.every(({ rejection }) => UNLISTED.has(rejection.reason))) reasons.add('disks are unavailable');
    for (const { rejection } of ofNode) {
      const reason = DISK_REASON[rejection.reason];
      if (reason !== undefined) reasons.add(reason);
    }
  }
  return [...reasons].sort();
}

/** Did the rules about nodes leave none, so that no disk was looked at? */
export function isRefusalOfNodes(refusals: readonly CandidateRefusal[]): boolean {
  return furthestStage(refusals) < PASSED_ALL;
}

function furthestStage(refusals: readonly CandidateRefusal[]): number {
  return refusals.reduce((stage, refusal) => Math.max(stage, stageOf(refusal)), 0);
}

function stageOf({ rejection }: CandidateRefusal): number {
  return STAGE_OF[rejection.reason] ?? PASSED_ALL;
}

/** The first requirement that no node met. One that the volume does not have is met by all. */
function reasonOfStage(
  { longhorn, requiredNodeId, topology }: PlacementRequest,
  stage: number,
): LonghornReason {
  if (longhorn?.cloneSources !== undefined && stage <= 1) return 'linked clone replica cannot be satisfied';
  if (requiredNodeId !== undefined && stage <= 2) return 'hard affinity cannot be satisfied';
  if (topology.length > 0 && stage <= 3) return 'topology requirement cannot be satisfied';
  return stage <= 3 ? 'nodes are unavailable' : 'none of the node candidates contains a ready engine image';
}

function groupByNode(refusals: readonly CandidateRefusal[]): CandidateRefusal[][] {
  const groups = new Map<string, CandidateRefusal[]>();
  for (const refusal of refusals) {
    const group = groups.get(refusal.nodeId);
    if (group === undefined) groups.set(refusal.nodeId, [refusal]);
    else group.push(refusal);
  }
  return [...groups.values()];
}
