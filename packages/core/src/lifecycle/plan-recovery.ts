/**
 * Planner of recoveries: the volume that orphans with one volume id make up, which of them are current, and whether it may be
 * recovered from them.
 *
 * Pure. The copies' own records decide what is current, as at every attach; the attach after a recovery reads the copies again, and
 * needs all members to answer (docs/adr/0225-restore-needs-all-members.md). So a plan from an old report costs a wait and no data.
 */
import { type CopyRecord, copyRecord, durableOf, highestRecord, isSetBack } from '../model/copy-record.js';
import { compareIds, type ReplicaId } from '../model/ids.js';
import type { OrphanInContext } from '../model/orphan.js';
import type {
  FoundCopy,
  FoundVerdict,
  RecoveryObstacle,
  RecoveryPlan,
  RecoveryView,
} from '../model/recovery.js';
import { currentCopies, newestDescription } from './recovered-volume.js';
import { findObstacle } from './recovery-obstacles.js';

export function planRecovery(view: RecoveryView): RecoveryPlan {
  const { volumeId, known, choice } = view;
  const copies = [...view.copies].sort((a, b) => compareIds(a.orphan.replicaId, b.orphan.replicaId));
  const records = recordsOf(copies);
  const newest = newestRecord(known?.volume.record, [...records.values()]);
  const durable = durableOf(records.values());
  const found = copies.map((copy) => foundCopy(copy, verdictOf(copy, newest, durable)));
  const current = currentCopies(copies, { copies: found });
  const described = newestDescription(current);
  const there = new Set([
    ...current.map(({ orphan }) => orphan.replicaId),
    ...(known?.replicas ?? []).map(({ id }) => id),
  ]);
  const plan = {
    volumeId,
    name: known?.volume.name ?? choice.name ?? described?.volume?.name ?? recoveredName(volumeId),
    sizeBytes: sizeOf(known, current),
    numberOfReplicas:
      known?.volume.spec.numberOfReplicas ?? described?.volume?.numberOfReplicas ?? newest?.members.length,
    projectId: known?.volume.projectId ?? projectOf(view, described?.volume?.projectId),
    fromClusterId: described?.volume?.clusterId,
    isKnown: known !== undefined,
    copies: found,
    record: newest,
    missing: (newest?.members ?? []).filter((member) => !there.has(member)),
  };
  const obstacle: RecoveryObstacle | undefined = findObstacle({ ...view, copies }, plan, records);
  return { ...plan, obstacle };
}

/**
 * Copies only grow, and the volume grows when all of them have: larger ones are from an interrupted expansion, and no byte beyond the
 * smallest one was ever acknowledged. An existing volume takes its copies' size when it attaches.
 */
function sizeOf(
  known: RecoveryView['known'],
  current: readonly OrphanInContext[],
): RecoveryPlan['sizeBytes'] {
  const sizes = current.flatMap(({ orphan }) => orphan.description?.sizeBytes ?? []);
  const smallest = sizes.length === 0 ? undefined : Math.min(...sizes);
  if (known === undefined) return smallest;
  return Math.max(known.volume.spec.sizeBytes, smallest ?? 0);
}

function projectOf(
  { place: { projects }, choice }: RecoveryView,
  stored: RecoveryPlan['projectId'],
): RecoveryPlan['projectId'] {
  const wanted = choice.projectId ?? stored;
  const named = projects.find(({ id }) => id === wanted);
  if (named !== undefined || choice.projectId !== undefined) return named?.id;
  // A database that was made anew has new projects: the only one is meant, or the default one of each installation.
  if (projects.length === 1) return projects[0]?.id;
  return projects.find(({ name }) => name === 'default')?.id;
}

/** Name of a volume whose copies store none. */
export function recoveredName(volumeId: string): string {
  return `recovered-${volumeId}`;
}

/**
 * The highest record. The first copies of a volume that was never attached are equal, and each names itself only: the database
 * knew that they belong together.
 */
function newestRecord(known: CopyRecord | undefined, records: readonly CopyRecord[]): CopyRecord | undefined {
  const newest = highestRecord([...(known === undefined ? [] : [known]), ...records]);
  if (newest === undefined || newest.epoch > 0 || known !== undefined) return newest;
  return copyRecord(
    0,
    0,
    records.flatMap(({ members }) => members),
  );
}

/** Records of the copies that may take part. */
function recordsOf(copies: readonly OrphanInContext[]): ReadonlyMap<ReplicaId, CopyRecord> {
  return new Map(
    copies.flatMap(({ orphan }): [ReplicaId, CopyRecord][] =>
      orphan.record === undefined ? [] : [[orphan.replicaId, orphan.record]],
    ),
  );
}

function verdictOf(
  { orphan }: OrphanInContext,
  newest: CopyRecord | undefined,
  durable: CopyRecord['durable'],
): FoundVerdict {
  const { removal, description, record, replicaId } = orphan;
  if (removal !== undefined) return 'leaving';
  if (description === undefined) return 'silent';
  if (record === undefined || description.isRebuildTarget) return 'unfinished';
  if (isSetBack(record, durable) || newest?.members.includes(replicaId) !== true) return 'stale';
  return 'current';
}

function foundCopy({ orphan, nodeName, diskName }: OrphanInContext, verdict: FoundVerdict): FoundCopy {
  const { replicaId, nodeId, diskId, record, writtenBytes } = orphan;
  return { replicaId, nodeId, nodeName, diskId, diskName, verdict, record, writtenBytes };
}
