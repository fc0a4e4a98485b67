/** Volumes that are not in order: what Longhorn says of each, and what its scheduler would do with the copy that is missing. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { toReplica, toRequest } from '@holdfast/core/scheduling/conformance/to-request.js';
import {
  explainPlacement,
  explainWithoutCures,
} from '@holdfast/core/scheduling/explanation/explain-placement.js';
import type { PlacementExplanation } from '@holdfast/core/scheduling/explanation/explanation.js';
import { refusalByGuards } from '@holdfast/core/scheduling/longhorn/guards.js';
import { LONGHORN_PROFILE } from '@holdfast/core/scheduling/longhorn/longhorn-profile.js';
import { longhornReasons } from '@holdfast/core/scheduling/longhorn/longhorn-reasons.js';
import { placeReplica } from '@holdfast/core/scheduling/placement/place-replica.js';
import type { LonghornReplica, LonghornVolume } from '../model.js';
import { conditionOf } from '../reading/fields.js';
import { newReplicaOf, questionAbout, schedulerReplica, volumeInScheduler } from '../to-scheduler.js';
import { type ClusterIndex, isHealthyReplica, isPlacedReplica } from './cluster-index.js';
import type { PlacementReport, Severity, VolumeReport } from './report.js';

/** Volumes for which cures are sought; each search runs the scheduler up to 64 times over all disks. */
const CURED_MAX = 200;

/** Worst first: lost data, then no second copy, then the rest. */
export function inspectVolumes(index: ClusterIndex, now: Date): VolumeReport[] {
  const ranks: Record<Severity, number> = { critical: 0, warning: 1, info: 2 };
  return index.cluster.volumes
    .filter((volume) => !isInOrder(volume, index))
    .map((volume) => ({ volume, severity: severityOf(volume, index) }))
    .sort((a, b) => ranks[a.severity] - ranks[b.severity] || (a.volume.name < b.volume.name ? -1 : 1))
    .map(({ volume, severity }, position) => inspect(volume, severity, index, now, position < CURED_MAX));
}

function replicasOf(volume: LonghornVolume, { replicasOf: all }: ClusterIndex): readonly LonghornReplica[] {
  return all.get(volume.name) ?? [];
}

function isInOrder(volume: LonghornVolume, index: ClusterIndex): boolean {
  if (volume.isDeleting || volume.isSharded) return true;
  if (volume.robustness === 'degraded' || volume.robustness === 'faulted') return false;
  if (conditionOf(volume.conditions, 'Scheduled')?.status === 'False') return false;
  // A dump of volumes alone says nothing of replicas.
  const isKnown = index.cluster.replicas.length > 0;
  return !isKnown || replicasOf(volume, index).filter(isPlacedReplica).length >= volume.numberOfReplicas;
}

function severityOf(volume: LonghornVolume, index: ClusterIndex): Severity {
  const healthy = replicasOf(volume, index).filter(isHealthyReplica).length;
  const isBroken = volume.robustness === 'faulted' || (index.cluster.replicas.length > 0 && healthy === 0);
  const hasOneLeft = healthy === 1 && volume.numberOfReplicas > 1;
  return isBroken || hasOneLeft ? 'critical' : 'warning';
}

function inspect(
  volume: LonghornVolume,
  severity: Severity,
  index: ClusterIndex,
  now: Date,
  seekCures: boolean,
): VolumeReport {
  const replicas = replicasOf(volume, index);
  const counts = {
    wanted: volume.numberOfReplicas,
    healthy: replicas.filter(isHealthyReplica).length,
    placed: replicas.filter(isPlacedReplica).length,
    failed: replicas.filter(({ failedAt }) => failedAt !== '').length,
    unplaced: replicas.filter(({ nodeName, failedAt }) => nodeName === '' && failedAt === '').length,
  };
  const isKnown = index.cluster.replicas.length > 0 && index.cluster.nodes.length > 0;
  const asked = isKnown && counts.placed < counts.wanted ? ask(volume, index, now, seekCures) : undefined;
  return {
    name: volume.name,
    claim: volume.claim === undefined ? null : `${volume.claim.namespace}/${volume.claim.name}`,
    severity,
    state: volume.state,
    robustness: volume.robustness,
    degradedSince: volume.lastDegradedAt,
    replicas: counts,
    longhornSays: volume.conditions
      .filter(({ type, status }) =>
        type === 'Scheduled' ? status === 'False' : status === 'True' && type === 'TooManySnapshots',
      )
      .map(({ type, reason, message }) => ({ condition: type, reason, message })),
    says: [sentenceOf(volume, counts, index), ...doubtOf(asked)].join(' '),
    placement: asked === undefined || 'problem' in asked ? null : asked,
    agreement: asked === undefined || 'problem' in asked ? null : agreementOf(volume, asked),
    at: volume.at,
  };
}

function sentenceOf(volume: LonghornVolume, counts: VolumeReport['replicas'], index: ClusterIndex): string {
  const parts = [`${counts.healthy} of ${counts.wanted} copies are whole`];
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.unplaced > 0) parts.push(`${counts.unplaced} without a place`);
  const rebuilding = (index.enginesOf.get(volume.name) ?? [])
    .flatMap(({ modes }) => [...modes.values()])
    .filter((mode) => mode === 'WO').length;
  if (rebuilding > 0) parts.push(`${rebuilding} being rebuilt`);
  return `${parts.join(', ')}.`;
}

/** Why nothing is said of the volume's placement. */
function doubtOf(asked: ReturnType<typeof ask> | undefined): string[] {
  return asked !== undefined && 'problem' in asked
    ? [`Its placement can't be judged: ${asked.problem}.`]
    : [];
}

function ask(
  volume: LonghornVolume,
  index: ClusterIndex,
  now: Date,
  seekCures: boolean,
): PlacementReport | { readonly problem: string } {
  const inScheduler = volumeInScheduler(index.cluster, volume, index.replicasOf);
  const waiting = replicasOf(volume, index).find(
    ({ nodeName, failedAt, isDeleting }) => nodeName === '' && failedAt === '' && !isDeleting,
  );
  const replica = waiting === undefined ? newReplicaOf(volume) : schedulerReplica(waiting);
  try {
    const question = questionAbout(inScheduler, replica, now);
    const explained = seekCures ? explainPlacement(question) : explainWithoutCures(question);
    const request = toRequest(inScheduler.placement, replica);
    const guarded = refusalByGuards(toReplica(replica));
    const recorded = placeReplica(request, question.fleet, now, LONGHORN_PROFILE);
    const reasons =
      guarded !== undefined
        ? [guarded]
        : recorded.kind === 'refused'
          ? longhornReasons(request, recorded.refusals)
          : [];
    const isPlaced = guarded === undefined && recorded.kind === 'placed';
    return {
      ...placementOf(explained),
      longhornReasons: [...reasons],
      wouldGoTo: isPlaced ? placeOf(recorded, index) : null,
    };
  } catch (error) {
    if (error instanceof StorageFault) return { problem: error.message };
    throw error;
  }
}

function placeOf({ nodeId, diskId }: { nodeId: string; diskId: string }, { disks }: ClusterIndex) {
  return { node: nodeId, disk: disks.get(diskId)?.name ?? diskId };
}

function placementOf({
  sentence,
  filters,
  cures,
}: PlacementExplanation): Omit<PlacementReport, 'longhornReasons' | 'wouldGoTo'> {
  return {
    sentence,
    rules: filters
      .filter(({ rejected }) => rejected > 0)
      .map(({ name, description, asked, rejected, rejections }) => ({
        name,
        asks: description ?? name,
        asked,
        rejected,
        rejections: rejections.map(({ nodeName, diskName, reason, message, numbers }) => ({
          node: nodeName,
          disk: diskName,
          reason,
          message,
          numbers: numbers === null ? null : { ...numbers },
        })),
      })),
    cures: cures.map((cure) => cure.sentence),
  };
}

/** Texts that a message of the condition is made of. Others are Longhorn's own troubles, about which no scheduler can say anything. */
const COMPARED = [
  'insufficient storage',
  'disks are unavailable',
  'tags not fulfilled',
  'nodes are unavailable',
  'none of the node candidates contains a ready engine image',
  'hard affinity cannot be satisfied',
  'topology requirement cannot be satisfied',
  'linked clone replica cannot be satisfied',
  'incompatible volume size',
] as const;

/** Whether the answer is Longhorn's, as far as its condition says what that was. */
function agreementOf(
  volume: LonghornVolume,
  { longhornReasons: ours, wouldGoTo }: PlacementReport,
): VolumeReport['agreement'] {
  const condition = conditionOf(volume.conditions, 'Scheduled');
  if (condition?.status !== 'False') return null;
  if (wouldGoTo !== null) {
    const place = `disk ${wouldGoTo.disk} of node ${wouldGoTo.node}`;
    return { agrees: false, sentence: `Longhorn found no place; asked now, its rules choose ${place}.` };
  }
  const theirs = COMPARED.filter((reason) => condition.message.includes(reason)).sort();
  const agrees = theirs.length === 0 ? ours.length === 0 : theirs.join() === [...ours].sort().join();
  const words = (reasons: readonly string[]) => (reasons.length === 0 ? 'no reason' : reasons.join('; '));
  return {
    agrees,
    sentence: agrees
      ? 'Asked now, its rules find no place either, for the same reasons.'
      : `Longhorn says ${words(theirs)}; asked now, its rules say ${words(ours)}.`,
  };
}
