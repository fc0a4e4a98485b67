/** Reasons why a volume is not recovered from its copies, the first one that applies, each with its cure. */
import { type CopyRecord, compareRecords } from '../model/copy-record.js';
import type { ReplicaId } from '../model/ids.js';
import type { OrphanInContext } from '../model/orphan.js';
import type { RecoveryObstacle, RecoveryPlan, RecoveryRefusal, RecoveryView } from '../model/recovery.js';
import { isRestored } from '../model/volume.js';
import { currentCopies, engineOf } from './recovered-volume.js';

type Facts = {
  readonly view: RecoveryView;
  readonly plan: Omit<RecoveryPlan, 'obstacle'>;
  readonly records: ReadonlyMap<ReplicaId, CopyRecord>;
  /** Orphans that the newest record names. */
  readonly current: readonly OrphanInContext[];
};

/** In the order in which a user can cure them: owner, kind, then missing copies. */
const RULES: readonly ((facts: Facts) => RecoveryObstacle | undefined)[] = [
  notNeeded,
  deleted,
  notDescribed,
  otherOrganization,
  otherCluster,
  forked,
  noCurrentCopy,
  enginesDiffer,
  noProject,
  missingCopies,
];

export function findObstacle(
  view: RecoveryView,
  plan: Omit<RecoveryPlan, 'obstacle'>,
  records: ReadonlyMap<ReplicaId, CopyRecord>,
): RecoveryObstacle | undefined {
  const facts = { view, plan, records, current: currentCopies(view.copies, plan) };
  for (const rule of RULES) {
    const obstacle = rule(facts);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

function obstacle(code: RecoveryRefusal, why: string, cures: readonly string[] = []): RecoveryObstacle {
  return { code, why, cures };
}

/** A healthy volume does not need them: they are leftovers. */
function notNeeded({ view: { known, place }, current }: Facts): RecoveryObstacle | undefined {
  if (known === undefined) return undefined;
  const { volume } = known;
  if (volume.clusterId !== place.clusterId) {
    return obstacle('NotNeeded', `volume ${volume.name} is one of the cluster ${volume.clusterId}`);
  }
  if (!isRestored(volume)) {
    return obstacle('NotNeeded', `volume ${volume.name} is there, and these copies are left over from it`);
  }
  const { state } = volume.lifecycle;
  if (state === 'deleting') return obstacle('NotNeeded', `volume ${volume.name} is being deleted`);
  if (current.length > 0) return undefined;
  return obstacle(
    'NotNeeded',
    `volume ${volume.name} is there, and its newest record names none of these copies`,
  );
}

/** Its node was down when the volume was deleted: the copies are of a volume that a user wanted gone. */
function deleted({ view: { copies, choice }, plan }: Facts): RecoveryObstacle | undefined {
  const copy = copies.find(({ deletedAt }) => deletedAt !== undefined);
  if (copy?.deletedAt === undefined || choice.acceptsDeleted === true) return undefined;
  return obstacle(
    'Deleted',
    `it was deleted at ${copy.deletedAt.toISOString()}, while the node of these copies was away`,
    [
      `remove what is left of it: holdfast orphan delete ${copies.map(({ orphan }) => orphan.id).join(' ')}`,
      `or, to have it back: holdfast recover ${plan.volumeId} --accept-deleted`,
    ],
  );
}

/** One that is silent may hold the newest record: nothing is concluded without it. */
function notDescribed({ plan }: Facts): RecoveryObstacle | undefined {
  const silent = plan.copies.filter(({ verdict }) => verdict === 'silent');
  if (silent.length === 0) return undefined;
  const where = silent.map(({ nodeName }) => nodeName).join(', ');
  return obstacle('NotDescribed', `the agents of ${where} have not said yet what their copies store`, [
    'wait a few seconds and ask again',
    `see that the agents of ${where} run, and that they are of this version`,
  ]);
}

function otherOrganization({ view, current }: Facts): RecoveryObstacle | undefined {
  const { clusterId, organizationId } = view.place;
  const other = volumesOf(current).find(
    (volume) => volume.clusterId === clusterId && volume.organizationId !== organizationId,
  );
  if (other === undefined) return undefined;
  return obstacle(
    'OtherOrganization',
    `its copies say that it belongs to the organization ${other.organizationId}, which this cluster is only lent to`,
    ['have that organization create the volume again, or remove its copies: holdfast orphan delete'],
  );
}

function otherCluster({ view, current }: Facts): RecoveryObstacle | undefined {
  const { place, choice, known } = view;
  if (known !== undefined) return undefined;
  const other = volumesOf(current).find(
    ({ clusterId }) => clusterId !== place.clusterId && clusterId !== choice.fromClusterId,
  );
  if (other === undefined) return undefined;
  return obstacle(
    'OtherCluster',
    `its copies say that they are of the cluster ${other.clusterId}, which is not this one`,
    [
      `if the control plane of that cluster is lost for good: add --from-cluster ${other.clusterId}`,
      'if that cluster lives: put the disk back into a node of it',
    ],
  );
}

/**
 * True if two engines claim the same position in the history. With a single control plane the higher record is always the later one,
 * since a salvage raises the epoch; only two databases, each of which granted the same epoch, can make such a pair.
 */
function forked({ view, records }: Facts): RecoveryObstacle | undefined {
  const all = view.copies.flatMap(({ orphan, nodeName }) => {
    const record = records.get(orphan.replicaId);
    return record === undefined ? [] : [{ orphan, nodeName, record }];
  });
  for (const [index, one] of all.entries()) {
    const other = all.slice(index + 1).find((next) => areForked(one, next));
    if (other === undefined) continue;
    const ids = [one.orphan.id, other.orphan.id];
    return obstacle(
      'Forked',
      `the copies on ${one.nodeName} and ${other.nodeName} have gone on without each other: no record says which of them is the newer one`,
      [
        `remove the one that is to be given up: ${ids.map((id) => `holdfast orphan delete ${id}`).join(', or ')}`,
      ],
    );
  }
  return undefined;
}

type Recorded = { readonly orphan: OrphanInContext['orphan']; readonly record: CopyRecord };

function areForked(a: Recorded, b: Recorded): boolean {
  if (compareRecords(a.record, b.record) === 0 && a.record.members.join() !== b.record.members.join()) {
    // The first copies of a volume that was never attached each name only themselves.
    return a.record.epoch > 0;
  }
  const isEpochShared = a.record.epoch === b.record.epoch && a.record.epoch === a.orphan.description?.epoch;
  const grants = [a, b].map(({ orphan }) => orphan.description?.grantId ?? undefined);
  const areGrantsOther = grants.every((grant) => grant !== undefined) && grants[0] !== grants[1];
  return isEpochShared && a.orphan.description?.epoch === b.orphan.description?.epoch && areGrantsOther;
}

function noCurrentCopy({ plan, current }: Facts): RecoveryObstacle | undefined {
  if (current.length > 0) return undefined;
  const names = plan.missing.length === 0 ? '' : `: the newest record names ${plan.missing.join(', ')}`;
  return obstacle('NoCurrentCopy', `none of the copies that were found is a current one${names}`, [
    'start the agents of the nodes that hold the others, and ask again',
  ]);
}

function enginesDiffer({ view: { fleet }, current }: Facts): RecoveryObstacle | undefined {
  const typeOf = ({ orphan }: OrphanInContext) => fleet.disks.find(({ id }) => id === orphan.diskId)?.type;
  const engines = new Set(current.map((copy) => engineOf(typeOf(copy) ?? 'filesystem')));
  if (engines.size <= 1) return undefined;
  return obstacle('EnginesDiffer', 'some of its copies are on folders and some on block disks', [
    'remove those of the kind that it is not to have: holdfast orphan delete',
  ]);
}

function noProject({ view, plan }: Facts): RecoveryObstacle | undefined {
  if (plan.projectId !== undefined) return undefined;
  const { projects } = view.place;
  return obstacle('NoProject', 'the project that it was in does not exist', [
    `name one with --project: ${projects.map(({ name }) => name).join(', ')}`,
  ]);
}

function missingCopies({ view, plan }: Facts): RecoveryObstacle | undefined {
  const { missing } = plan;
  if (missing.length === 0 || view.choice.acceptsMissing === true) return undefined;
  const which = missing.join(', ');
  return obstacle(
    'MissingCopies',
    `${missing.length} of the copies that its newest record names were not found (${which}): any of them may hold writes that the others do not have`,
    [
      'start the agents of all nodes, and ask again',
      'or add --accept-missing: the volume is made, and waits for them until it is salvaged: holdfast volume salvage',
    ],
  );
}

function volumesOf(copies: readonly OrphanInContext[]) {
  return copies.flatMap(({ orphan }) => orphan.description?.volume ?? []);
}
