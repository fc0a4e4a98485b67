/** What the copies of a volume say of themselves when an engine is to start. */
import { isOnReadyNode } from '@holdfast/core/lifecycle/volume-facts.js';
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { SurveyedCopy } from '@holdfast/core/model/salvage.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, type ReconcilerPorts } from './reconciler-ports.js';
import { nodeOf } from './step-lookup.js';

/**
 * Fences every copy that can be reached, also failed ones: none may take a write of an older engine any more. Answers
 * with what those said of themselves.
 *
 * @throws StorageFault `engine.stale_epoch` when a copy knows a newer attachment than the view
 */
export async function openCopies(ports: ReconcilerPorts, view: VolumeView): Promise<SurveyedCopy[]> {
  const reachable = view.replicas.filter(
    (replica) => replica.provisioned && isOnReadyNode(replica, view.fleet),
  );
  const replies = await Promise.all(reachable.map((replica) => openCopy(ports, view, replica)));
  return reachable.flatMap(({ id: replicaId }, index): SurveyedCopy[] => {
    const reply = replies[index];
    if (reply === undefined) return [];
    const { record, clean: isClean, writtenBytes } = reply;
    return [{ replicaId, record: record === null ? undefined : storedRecord(record), isClean, writtenBytes }];
  });
}

function storedRecord({
  epoch,
  dataGeneration,
  members,
}: NonNullable<OpenReplicaReply['record']>): CopyRecord {
  return copyRecord(
    epoch,
    dataGeneration,
    members.map((id) => asId<ReplicaId>(id)),
  );
}

export function recordsOf(copies: readonly SurveyedCopy[]): Map<ReplicaId, CopyRecord> {
  return new Map(
    copies.flatMap(({ replicaId, record }): [ReplicaId, CopyRecord][] =>
      record === undefined ? [] : [[replicaId, record]],
    ),
  );
}

async function openCopy(
  ports: ReconcilerPorts,
  view: VolumeView,
  replica: Replica,
): Promise<OpenReplicaReply | undefined> {
  try {
    const agent = await agentOf(ports, nodeOf(view, replica).id);
    return await ports.agents.openReplica(agent, replica.id, view.volume.epoch);
  } catch (error) {
    if (!isFault(error) || error.code === 'engine.stale_epoch') throw error;
    return undefined;
  }
}

/** When they were asked does not count: they are asked every few seconds. */
export function sameCopies(
  a: readonly SurveyedCopy[] | undefined,
  b: readonly SurveyedCopy[] | undefined,
): boolean {
  return textOf(a) === textOf(b);
}

function textOf(copies: readonly SurveyedCopy[] | undefined): string {
  return (copies ?? [])
    .map(({ replicaId, record, isClean, writtenBytes }) => {
      const known = record === undefined ? '-' : `${record.epoch}.${record.dataGeneration} ${record.members}`;
      return `${replicaId} ${known} ${isClean} ${writtenBytes}`;
    })
    .join('\n');
}
