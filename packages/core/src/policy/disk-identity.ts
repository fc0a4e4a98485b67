/**
 * Decisions about a disk's identity: whether a report is about the disk that is known, or about another state of it. A disk has a
 * stamp that only its holder advances, and that is on the disk before Postgres knows it
 * (docs/adr/0322-disk-stamps.md). Pure: both stores carry out what is decided here.
 */
import type { DiskReport, StampReport } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import { DISK_SET_BACK, type DiskRivals, type DiskStamp, duplicateRowId } from '../model/disk-stamp.js';
import type { NodeId } from '../model/ids.js';
import type { StorageDisk, StorageNode } from '../model/node.js';
import type { Replica } from '../model/replica.js';

/** The reporting agent. */
export type Sender = { readonly nodeId: NodeId; readonly bootId: string; readonly now: Date };

/**
 * Age of a stored stamp below which an older one of the same agent process is taken for a report that came late. A request to the
 * API has ended by then.
 */
const LATE_MS = 15_000;
/**
 * Time that two nodes have to answer with one disk before it counts as two disks: one that is pulled out of a living node is missed
 * by that node's next report.
 */
const TOGETHER_MS = 6_000;

export type HolderVerdict =
  /** Nothing of the stamp is to be stored; `isConfirmed`: it is the stored one. */
  | { readonly kind: 'kept'; readonly isConfirmed: boolean }
  /** `undefined`: the disk that a user accepts has none yet. */
  | { readonly kind: 'stored'; readonly stamp: DiskStamp | undefined }
  /** An earlier state of the disk, or one that has parted from it. */
  | { readonly kind: 'set-back'; readonly message: string };

type KnownDisk = Pick<StorageDisk, 'stamp' | 'acceptedNodeId'>;

/** Judges a ready disk that its own node reports. */
export function judgeHolder(disk: KnownDisk, claim: StampReport | undefined, sender: Sender): HolderVerdict {
  const { stamp } = disk;
  if (claim === undefined) return { kind: 'kept', isConfirmed: false };
  if (stamp === undefined && claim.id === null) return { kind: 'kept', isConfirmed: true };
  const link = linkOf(stamp, claim);
  const isAccepted = disk.acceptedNodeId === sender.nodeId;
  if (claim.id === null && isAccepted) return { kind: 'stored', stamp: undefined };
  if (claim.id !== null) {
    const isSame = link === 'equal' && stamp?.bootId === sender.bootId && stamp.fileId === fileIdOf(claim);
    if (isSame) return { kind: 'kept', isConfirmed: true };
    const isAhead = claim.generation > (stamp?.generation ?? 0);
    if (link !== 'none' || isAhead || isAccepted) {
      return { kind: 'stored', stamp: storedStamp(claim.id, claim, sender) };
    }
  }
  const ageMs = sender.now.getTime() - Date.parse(stamp?.at ?? '');
  if (stamp?.bootId === sender.bootId && ageMs < LATE_MS) return { kind: 'kept', isConfirmed: false };
  return {
    kind: 'set-back',
    message:
      `it holds an earlier state of the disk (stamp ${claim.generation}; its newest one is ${stamp?.generation}): ` +
      'a restored snapshot, or a copy of it. Put the true disk back, or accept this one and lose what was written since',
  };
}

type ArrivalFacts = {
  readonly disk: Pick<StorageDisk, 'conditions' | 'stamp' | 'acceptedNodeId' | 'rivals' | 'name'>;
  /** The node that it is known on. */
  readonly from: Pick<StorageNode, 'name' | 'conditions' | 'lastHeartbeatAt'>;
  readonly replicas: readonly Pick<Replica, 'mode'>[];
  /** The reporting node has shown that it has the copies on the disk: an id of a disk is known to every user of the cluster. */
  readonly isProven: boolean;
};

export type ArrivalVerdict =
  /** The disk has moved to the reporting node. */
  | { readonly kind: 'moved' }
  /** It stays where it is for now. `rivals`: what is to be stored of the report. */
  | { readonly kind: 'waits'; readonly rivals?: DiskRivals | undefined }
  /** A second disk with the identity of the one that is known. */
  | { readonly kind: 'duplicate'; readonly message: string; readonly rivals?: DiskRivals | undefined };

/**
 * Judges a disk that another node than its own reports. It has moved if it can be read there and is gone where it was: its
 * node is known not to answer, or known not to have it. No engine may use a copy on it, since that engine still reaches the old place.
 * And it has to be the newest state of the disk, as its stamp shows.
 */
export function judgeArrival(
  facts: ArrivalFacts,
  report: Pick<DiskReport, 'ready' | 'stamp'>,
  sender: Sender,
): ArrivalVerdict {
  const { disk, from, replicas, isProven } = facts;
  if (!report.ready) return { kind: 'waits' };
  const isGone = isKnownNotReady(from.conditions) || isKnownNotReady(disk.conditions);
  if (!isGone) return judgeTogether(facts, report, sender);
  if (!isProven) return { kind: 'waits' };
  if (replicas.some(({ mode }) => mode === 'RW' || mode === 'WO')) return { kind: 'waits' };
  if (disk.acceptedNodeId === sender.nodeId) return { kind: 'moved' };
  const doubt = doubtOf(disk, report.stamp, sender);
  if (doubt === undefined) return { kind: 'moved' };
  const cure = 'Start that node again, or accept this disk if it is the true one';
  return {
    kind: 'duplicate',
    message: `it says that it is disk ${disk.name} of node ${from.name}, and ${doubt}. ${cure}`,
  };
}

/** Both nodes may have it. A pulled disk is missed by the next report of its node; one that both go on reporting is there twice. */
function judgeTogether(
  { disk, from }: ArrivalFacts,
  { stamp }: Pick<DiskReport, 'stamp'>,
  { nodeId, now }: Sender,
): ArrivalVerdict {
  const seen = disk.rivals?.[nodeId];
  const stampId = stamp?.id ?? null;
  const since = seen?.stampId === stampId ? seen.since : now.toISOString();
  const heardMs = (from.lastHeartbeatAt?.getTime() ?? 0) - Date.parse(since);
  const isTogether = heardMs >= TOGETHER_MS;
  const isNews = seen?.since !== since || seen.isTogether !== isTogether;
  const rivals = isNews ? { ...disk.rivals, [nodeId]: { since, stampId, isTogether } } : undefined;
  if (!isTogether) return { kind: 'waits', rivals };
  const message =
    `it says that it is disk ${disk.name} of node ${from.name}, which has that disk: one was copied from the other. ` +
    'Take the copy off its node (holdfast disk remove), and empty its place';
  return { kind: 'duplicate', message, rivals };
}

/** What speaks against a disk's being the newest state of the one that is known; `undefined`: nothing. */
function doubtOf(
  { stamp, rivals }: ArrivalFacts['disk'],
  claim: StampReport | undefined,
  { nodeId }: Sender,
): string | undefined {
  const rival = rivals?.[nodeId];
  const isKnownCopy = rival?.isTogether === true && rival.stampId === (claim?.id ?? null);
  if (stamp === undefined)
    return isKnownCopy ? 'was there at the same time as that one: one was copied from the other' : undefined;
  if (claim === undefined) return "its agent is too old to say whether it is that disk's newest state";
  const link = linkOf(stamp, claim);
  if (link === 'none')
    return `holds an earlier state of it (stamp ${claim.generation}; its newest one is ${stamp.generation})`;
  if (!(link === 'equal' ? stamp.isOpen : claim.isOpen)) return undefined;
  if (isKnownCopy) return 'was there at the same time as that one: one was copied from the other';
  if (stamp.fileId !== null && stamp.fileId === fileIdOf(claim)) return undefined;
  return 'was copied from it while it may have been written to';
}

/** Where a claimed stamp stands to the stored one. `ahead`: the disk's next state, which Postgres has not heard of. */
function linkOf(stored: DiskStamp | undefined, claim: StampReport): 'equal' | 'ahead' | 'none' {
  if (stored === undefined) return 'ahead';
  if (claim.id === stored.id) return 'equal';
  return claim.trail.includes(stored.id) ? 'ahead' : 'none';
}

function storedStamp(id: string, claim: StampReport, { bootId, now }: Sender): DiskStamp {
  const { generation, isOpen } = claim;
  return { id, generation, isOpen, fileId: fileIdOf(claim), bootId, at: now.toISOString() };
}

function fileIdOf({ fileId }: StampReport): string | null {
  return fileId ?? null;
}

function isKnownNotReady(conditions: Parameters<typeof conditionOf>[0]): boolean {
  return conditionOf(conditions, 'Ready')?.status === 'False';
}

/** The report as the row of the second disk holds it. Of its space nothing is counted: it can't be used. */
export function duplicateReport(report: DiskReport, message: string, { nodeId }: Sender): DiskReport {
  const { name, path, type, fileSystem, diskId } = report;
  const common = { name, path, type, fileSystem, maximumBytes: 0, availableBytes: 0, ready: false };
  return { ...common, diskId: duplicateRowId(diskId, nodeId), reason: 'DuplicateDisk', message };
}

/** The report of a disk whose state is not its newest one. */
export function setBackReport(report: DiskReport, message: string): DiskReport {
  return { ...report, ready: false, reason: DISK_SET_BACK, message };
}
