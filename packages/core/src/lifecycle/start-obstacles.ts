/** Obstacles to an engine's start, as users see them: the missing copy, its node and disk, and the cure. */
import { conditionOf } from '../model/condition.js';
import type { CopyRecord, OneNodesWord } from '../model/copy-record.js';
import type { FaultCode } from '../model/faults.js';
import type { ReplicaId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import type { VolumeView } from '../model/views.js';
import { type Attention, isRestored } from '../model/volume.js';
import { diskById, isOnReadyNode, isReachable, nodeName } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import { COPIES_MISSING } from '../policy/decide-salvage.js';
import { canStartElsewhere } from './plan-failover.js';

/** Refusals of copies whose agent answered. */
export type Refusals = ReadonlyMap<ReplicaId, { code: FaultCode; message: string }>;

export const DISKS_FULL = 'DisksFull';

type TooFew = {
  /** Members of the highest record that did not open; empty where no record is known at all. */
  missing: readonly ReplicaId[];
  /** Members that opened, and copies that did and are not members any more. */
  current: readonly ReplicaId[];
  stale: readonly ReplicaId[];
  /** Members that opened, and hold an older record than they are known to have stored. */
  setBack?: readonly ReplicaId[];
  refused: Refusals;
};

/** Of copies whose own record is older than one that they are known to have stored. */
const SET_BACK =
  'was set back to an earlier state (a restored snapshot of its machine or disk, or a disk that lost writes)';

/**
 * Copies on full disks exist and lose nothing: with enough of them the cure is room, and a salvage, which gives copies up, is not
 * offered.
 */
export function tooFewCopies(
  view: VolumeView,
  { missing, setBack = [], ...rest }: TooFew,
): Omit<Attention, 'since'> {
  const full = missing.filter((id) => isOnFullDisk(view, id, rest.refused));
  const gone = missing.filter((id) => !full.includes(id));
  const wouldDo = rest.current.length + full.length;
  const members = rest.current.length + missing.length;
  const wanted = isRestored(view.volume) ? members : members / 2;
  const isEnough = full.length > 0 && wouldDo >= wanted;
  const room = full.map(
    (id) => `free space on ${placeOf(view, id)}, or make it larger; the volume then goes on`,
  );
  if (isEnough) {
    const where = full.map((id) => placeOf(view, id)).join(', ');
    return {
      code: DISKS_FULL,
      message: `copies can't be opened because their disks are full: ${where}`,
      cures: room,
    };
  }
  const where = namesOf(view, gone);
  const isAnyGone = gone.length > 0 || setBack.length === 0;
  const missingText = isAnyGone ? `, missing ${where}${whyText(view, gone, rest.refused)}` : '';
  const setBackText = setBack.length === 0 ? '' : `; ${namesOf(view, setBack)} ${SET_BACK}`;
  return {
    code: COPIES_MISSING,
    message:
      `too few current copies answer to be sure that no acknowledged write is lost: ` +
      `${foundText(view, rest)}${missingText}${setBackText}${restoredText(view)}`,
    cures: [
      ...room,
      ...awaitedCures(view, gone),
      ...(setBack.length === 0
        ? []
        : ['bring back what the disks held that were set back, when it is still somewhere']),
      // A salvage takes members only, so with none of them it would be refused.
      ...(rest.current.length + setBack.length === 0
        ? []
        : [
            'salvage it with the copies that answer, when the missing ones are gone for good: what only they hold is lost',
          ]),
    ],
  };
}

/** A copy that the volume does not have any more, as after its node was forgotten, is not waited for. */
function awaitedCures(view: VolumeView, gone: readonly ReplicaId[]): string[] {
  const known = gone.filter((id) => view.replicas.some((replica) => replica.id === id));
  const isLocal = (id: ReplicaId) => {
    const replica = view.replicas.find((one) => one.id === id);
    return replica !== undefined && isOnReadyNode(replica, view.fleet);
  };
  const silent = known.filter((id) => !isLocal(id));
  const there = known.filter(isLocal);
  return [
    ...(silent.length === 0 ? [] : [`start the agents of the missing copies (${namesOf(view, silent)})`]),
    ...(there.length === 0 ? [] : [`bring back the disks of the missing copies (${namesOf(view, there)})`]),
    ...(gone.length === 0 ? ['start the agents of its copies'] : []),
  ];
}

/**
 * Copies on one node hold a record that no other copy and not the database knows, and that makes copies elsewhere stale. An engine may have
 * written it in the moment before everything stopped; or the node is in the wrong hands, and says so to have its data believed.
 */
export function oneNodesWord(
  view: VolumeView,
  { claim, claimedBy, leftOut }: OneNodesWord,
): Omit<Attention, 'since'> {
  const { replicas, fleet } = view;
  const node = nodeName(fleet, replicas.find(({ id }) => id === claimedBy[0])?.nodeId);
  const witnesses = claim.members.filter((member) => !claimedBy.includes(member));
  return {
    code: COPIES_MISSING,
    message:
      `node ${node} alone says that others (${namesOf(view, leftOut)}) miss writes: its copy holds a record (epoch ${claim.epoch}, ` +
      `generation ${claim.dataGeneration}) that neither the database nor any other copy that answers knows`,
    cures: [
      ...(witnesses.length === 0
        ? []
        : [`start the agents of the other copies that the record names (${namesOf(view, witnesses)})`]),
      `attach it on ${node} to go on with what its copy holds, when that node is certainly yours`,
      `salvage it to go on without what ${node} says; should that node be in the wrong hands, revoke its identity first`,
    ],
  };
}

/**
 * A clone that was not filled yet at the time of the backup, and was attached after it: another filling would overwrite users' later
 * writes.
 */
export function cloneInDoubt(
  { volume }: VolumeView,
  found: Pick<CopyRecord, 'epoch'>,
): Omit<Attention, 'since'> | undefined {
  const knownEpoch = volume.record?.epoch ?? 0;
  if (!isRestored(volume) || fillOf(volume) === undefined || found.epoch <= knownEpoch) return undefined;
  return {
    code: COPIES_MISSING,
    message:
      `as of the backup that the database was restored from it was still to be filled with what it was cloned from; ` +
      `its copies were attached since then (epoch ${found.epoch}, in the backup ${knownEpoch}), so they may be filled and hold users' writes`,
    cures: [
      'salvage it to go on with what the copies hold, when it was used after the backup',
      'delete it and clone the snapshot again, when it was not',
    ],
  };
}

/** Why copies that would do at any other time do not. */
function restoredText({ volume: { restoredAt } }: VolumeView): string {
  if (restoredAt === undefined) return '';
  return (
    `; since the database was restored from a backup (${restoredAt.toISOString()}) all have to answer once: any of ` +
    `them may have gone on without the others, and only the lost database would know`
  );
}

/** Stale copies answer too, and do not help: they lack writes that were acknowledged. */
function foundText(view: VolumeView, { current, stale }: Pick<TooFew, 'current' | 'stale'>): string {
  if (stale.length === 0) return `${current.length} found`;
  return `${current.length} found, and ${stale.length} stale (${namesOf(view, stale)})`;
}

function whyText(view: VolumeView, missing: readonly ReplicaId[], refused: Refusals): string {
  const told = missing.flatMap((id) => {
    const refusal = refused.get(id);
    return refusal === undefined ? [] : [`${namesOf(view, [id])}: ${refusal.message}`];
  });
  return told.length === 0 ? '' : ` (${told.join('; ')})`;
}

function isOnFullDisk(view: VolumeView, replicaId: ReplicaId, refused: Refusals): boolean {
  const refusal = refused.get(replicaId);
  // One that did not answer at all is missing, however full its disk is.
  return refusal !== undefined && (refusal.code === 'disk.no_space' || isFull(diskOf(view, replicaId)));
}

export function isFull(disk: Pick<StorageDisk, 'conditions'> | undefined): boolean {
  return disk !== undefined && conditionOf(disk.conditions, 'Ready')?.reason === 'DiskFull';
}

function diskOf({ replicas, fleet }: VolumeView, replicaId: ReplicaId): StorageDisk | undefined {
  const diskId = replicas.find(({ id }) => id === replicaId)?.diskId;
  return diskById(fleet, diskId);
}

/** `disk disk-1 (/data/disk-1) of node-2` */
export function placeOf(view: VolumeView, replicaId: ReplicaId): string {
  const disk = diskOf(view, replicaId);
  const nodeId = view.replicas.find(({ id }) => id === replicaId)?.nodeId;
  const node = nodeName(view.fleet, nodeId);
  return disk === undefined
    ? `the disk of the copy on ${node}`
    : `disk ${disk.name} (${disk.path}) of ${node}`;
}

export function namesOf({ replicas, fleet }: VolumeView, replicaIds: readonly ReplicaId[]): string {
  if (replicaIds.length === 0) return 'every copy';
  return replicaIds
    .map((replicaId) => {
      const replica = replicas.find(({ id }) => id === replicaId);
      return replica === undefined
        ? `replica ${replicaId}`
        : `the copy on ${nodeName(fleet, replica.nodeId)}`;
    })
    .join(', ');
}

const ELSEWHERE =
  'detach it by force, then attach it on another node: every acknowledged and flushed write is kept';

/**
 * Ways to have the volume served on another node than its holder, each of which would succeed now. If too few copies answer for an
 * attach, the text says so, with the two ways on.
 */
export function curesElsewhere(view: VolumeView): string[] {
  const { volume, replicas, fleet } = view;
  if (canStartElsewhere(view)) return [ELSEWHERE];
  const members = volume.record?.members ?? [];
  const away = replicas.filter(
    (replica) =>
      members.includes(replica.id) && replica.nodeId !== holderOf(volume) && !isReachable(replica, fleet),
  );
  const answering = replicas.filter((replica) => members.includes(replica.id) && isReachable(replica, fleet));
  if (away.length === 0) return [];
  const nodes = [...new Set(away.map(({ nodeId }) => nodeName(fleet, nodeId)))].join(', ');
  return [
    `start the agents on ${nodes} too, if it is to be attached on another node: of its ${members.length} last copies only ${answering.length} can be reached, and an attach needs half`,
    ...(answering.length === 0
      ? []
      : [
          `when its other copies are gone for good: detach it by force, attach it on ${nodeName(fleet, answering[0]?.nodeId)}, then salvage it: what only they hold is lost`,
        ]),
  ];
}

/** Cures for an engine that does not start on the node. */
export function startCures(view: VolumeView, code: FaultCode, node: string): string[] {
  const elsewhere = canStartElsewhere(view) ? [ELSEWHERE] : [];
  switch (code) {
    case 'agent.unreachable':
      return [`look after the agent on ${node}: it is asked again every few seconds`, ...elsewhere];
    case 'disk.no_space':
      return ['free space on the disks of its copies, or make them larger; the volume then goes on'];
    case 'engine.no_replica':
      return [`look after the network between ${node} and the nodes of its copies`, ...elsewhere];
    case 'engine.stale_epoch':
      return ['wait: a newer attachment has taken over'];
    default:
      return [`wait: ${node} is asked again every few seconds`, ...elsewhere];
  }
}
