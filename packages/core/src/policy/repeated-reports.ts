/**
 * Decisions about heartbeats that say nothing new (docs/adr/0344-repeated-reports.md): when a stored report may
 * be named instead of being sent again, and whether such a claim is enough. Pure: no clock and no database.
 */
import type { DiskReport, Heartbeat, HeartbeatRepeat, HeartbeatReply } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import type { DiskStamp } from '../model/disk-stamp.js';
import type { ClusterId, DiskId, NodeId } from '../model/ids.js';
import type { StorageDisk, StorageNode } from '../model/node.js';
import { refuseAgentVersion } from './agent-version.js';
import { judgeHolder } from './disk-identity.js';
import { isUnanswering } from './node-liveness.js';

/** What a store has made of a report. */
export type StoredReport = {
  readonly heartbeat: Pick<Heartbeat, 'disks' | 'engines'>;
  /** Rows of the disks that are the node's now. */
  readonly disks: readonly Pick<StorageDisk, 'id' | 'acceptedNodeId' | 'removalRequestedAt'>[];
  readonly confirmed: NonNullable<HeartbeatReply['stamps']>;
  /** Rows that the report ends, and that stay because something is booked there. */
  readonly isEndingRows: boolean;
  /** Volumes whose engines the report names and that are known. */
  readonly knownVolumes: ReadonlySet<string>;
};

/**
 * May the agent name this report the next time? Not where the same report may come to something else later without a change of a row that
 * ends it: disks that are judged by time or by other nodes, rows that wait for a booking to go, rebuilds that go on.
 */
export function isRepeatable(stored: StoredReport): boolean {
  const { heartbeat, disks, confirmed, isEndingRows, knownVolumes } = stored;
  const own = new Set<DiskId>(disks.map(({ id }) => id));
  const isConfirmed = new Set<DiskId>(confirmed.map(({ diskId }) => diskId));
  const isSettled = ({ diskId, ready, stamp }: DiskReport) =>
    own.has(diskId) && (!ready || stamp === undefined || isConfirmed.has(diskId));
  const waits = disks.some(
    (disk) => disk.acceptedNodeId !== undefined || disk.removalRequestedAt !== undefined,
  );
  return (
    !isEndingRows &&
    !waits &&
    heartbeat.disks.every(isSettled) &&
    heartbeat.engines.every(
      ({ volumeId, rebuilds }) =>
        knownVolumes.has(volumeId) && rebuilds.every(({ state }) => state !== 'running'),
    )
  );
}

/** An agent's claim that its last report holds, and the identity that its certificate shows. */
export type RepeatClaim = Pick<HeartbeatRepeat, 'reportId' | 'name' | 'bootId' | 'controlUrl' | 'nbdHost'> & {
  readonly nodeId: NodeId;
  readonly clusterId: ClusterId;
  readonly keyHash: string;
};

/** What is stored of the node, read in one statement. */
export type KnownReporter = Pick<
  StorageNode,
  'name' | 'clusterId' | 'bootId' | 'controlUrl' | 'nbdHost' | 'lastHeartbeatAt' | 'conditions'
> & {
  readonly reportId: string | undefined;
  readonly keyHash: string;
  readonly isRevoked: boolean;
  readonly isForgotten: boolean;
  readonly protocol: number | undefined;
  readonly oldestProtocol: number | undefined;
  readonly unansweredAt: Date | undefined;
  /** A row has changed since that gives the report another meaning. */
  readonly isStale: boolean;
};

/**
 * Is the claim enough, so that only the time of it is stored? Else the agent is asked for the whole report: the rules for that one decide, and they
 * tell why an agent is refused. A node that is not ready, or that is shown as not answering, has to be told of, which is work of the whole one too.
 */
export function isEnough(known: KnownReporter, claim: RepeatClaim): boolean {
  const isSameAgent =
    known.clusterId === claim.clusterId &&
    known.name === claim.name &&
    known.keyHash === claim.keyHash &&
    !known.isRevoked &&
    !known.isForgotten &&
    known.bootId === claim.bootId &&
    refuseAgentVersion(known.name, known.protocol, known.oldestProtocol) === undefined;
  const isSameReport =
    known.reportId === claim.reportId &&
    !known.isStale &&
    known.controlUrl === claim.controlUrl &&
    known.nbdHost === claim.nbdHost;
  const isWell =
    conditionOf(known.conditions, 'Ready')?.status === 'True' && !isUnanswering(known, known.unansweredAt);
  return isSameAgent && isSameReport && isWell;
}

/** `confirmed`: it is stored already; `advanced`: it is to be stored; `undefined`: the whole report has to be judged. */
export type StampVerdict =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'advanced'; readonly stamp: DiskStamp }
  | undefined;

/** Judges a stamp that is sent without its report. Only the plain case of a disk that its own agent goes on using is decided here. */
export function judgeRepeatedStamp(
  disk: Pick<StorageDisk, 'nodeId' | 'stamp' | 'acceptedNodeId'>,
  claim: HeartbeatRepeat['stamps'][number]['stamp'],
  sender: Parameters<typeof judgeHolder>[2],
): StampVerdict {
  if (disk.nodeId !== sender.nodeId || disk.acceptedNodeId !== undefined) return undefined;
  const verdict = judgeHolder(disk, claim, sender);
  if (verdict.kind === 'kept') return verdict.isConfirmed ? { kind: 'confirmed' } : undefined;
  return verdict.kind === 'stored' && verdict.stamp !== undefined
    ? { kind: 'advanced', stamp: verdict.stamp }
    : undefined;
}
