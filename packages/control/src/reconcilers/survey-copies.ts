/** Survey of a volume's copies before its engine starts: what each one says of itself. */

import { currentCopies } from '@holdfast/core/lifecycle/decide-start.js';
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import { describeVolume } from '@holdfast/core/model/copy-description.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault, type StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { SurveyedCopy } from '@holdfast/core/model/salvage.js';
import { isOnReadyNode } from '@holdfast/core/model/volume-facts.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, type ReconcilerPorts } from './reconciler-ports.js';
import { nodeOf } from './step-lookup.js';
import { collectWithin } from './timeouts.js';

/**
 * Additional wait for a copy when those that have answered suffice. A healthy copy answers in milliseconds, also when it has to be
 * opened first; a later one is left out, and gets what it missed by a rebuild.
 */
const SILENT_COPY_MS_MAX = 1_000;

/**
 * Fences every copy that can be reached, also failed ones: none may take a write of an older engine any more. Answers
 * with what those said of themselves.
 *
 * @param refusals takes what copies said whose agent answered and that did not open
 * @throws StorageFault `engine.stale_epoch` when a copy knows a newer attachment than the view
 */
export async function openCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  refusals: Map<ReplicaId, StorageFault> = new Map(),
): Promise<SurveyedCopy[]> {
  const reachable = view.replicas.filter(
    (replica) => replica.provisioned && isOnReadyNode(replica, view.fleet),
  );
  const surveyed = (replies: readonly (OpenReplicaReply | undefined)[]) => surveyOf(reachable, replies);
  const replies = await collectWithin(
    reachable.map((replica) => openCopy(ports, view, { replica, refusals })),
    { isEnough: (answers) => areEnough(view, surveyed(answers)), patienceMs: SILENT_COPY_MS_MAX },
  );
  return surveyed(replies);
}

function surveyOf(
  asked: readonly Replica[],
  replies: readonly (OpenReplicaReply | undefined)[],
): SurveyedCopy[] {
  return asked.flatMap(({ id: replicaId }, index): SurveyedCopy[] => {
    const reply = replies[index];
    if (reply === undefined) return [];
    const { record, clean: isClean, writtenBytes } = reply;
    return [{ replicaId, record: record ?? undefined, isClean, writtenBytes }];
  });
}

function areEnough(view: VolumeView, copies: readonly SurveyedCopy[]): boolean {
  return currentCopies(view, recordsOf(copies)).kind === 'go';
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
  { replica, refusals }: { replica: Replica; refusals: Map<ReplicaId, StorageFault> },
): Promise<OpenReplicaReply | undefined> {
  try {
    const agent = await agentOf(ports, nodeOf(view, replica).id);
    const { epoch, grantId } = view.volume;
    return await ports.agents.openReplica(agent, replica.id, {
      epoch,
      grantId,
      volume: describeVolume(view.volume),
    });
  } catch (error) {
    if (!isFault(error) || error.code === 'engine.stale_epoch') throw error;
    if (error.code !== 'agent.unreachable') refusals.set(replica.id, error);
    return undefined;
  }
}
