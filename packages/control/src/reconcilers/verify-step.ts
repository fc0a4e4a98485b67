import type { Step } from '@holdfast/core/lifecycle/step.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { VolumeVerification } from '@holdfast/core/model/volume.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { nodeOf } from './step-lookup.js';

type CopyResult = VolumeVerification['replicas'][number];

/** How soon copies that are being read are asked again. */
const LOOK_AGAIN_MS = 2_000;
/** At 100 MB/s a whole copy of 1 TB is read in this time. What takes longer is reported as not read. */
const VERIFY_MS_MAX = 3 * 3_600_000;

/**
 * Has every copy read from end to end, and compares. The agents do that in the background: this step starts it or asks
 * how far it is, and ends, so that verifications hold up no other volume. A worker that dies changes nothing.
 */
export async function verifyCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaIds }: Extract<Step, { kind: 'verify' }>,
): Promise<StepOutcome> {
  const { volume, replicas } = view;
  const now = ports.clock.now();
  const requestedAt = volume.verification?.requestedAt ?? now;
  const isLate = now.getTime() - requestedAt.getTime() > VERIFY_MS_MAX;
  // Failed copies are known to be old: they are rebuilt or removed, and say nothing about the others.
  const copies = replicas.filter(({ failedAt }) => failedAt === undefined);
  const answers = await Promise.all(
    copies.map(async (replica) =>
      replicaIds.includes(replica.id) ? checksumOf(ports, view, { replica, requestedAt }) : leftOut(replica),
    ),
  );
  if (!isLate && answers.includes('running')) {
    await ports.queue.wake({ kind: 'volume', volumeId: volume.id }, { delayMs: LOOK_AGAIN_MS });
    return 'pause';
  }
  const results = copies.map((replica, index) => {
    const answer = answers[index];
    return answer === undefined || answer === 'running' ? tooLate(replica) : answer;
  });
  const verification: VolumeVerification = {
    requestedAt,
    finishedAt: now,
    replicas: results,
    ...verdictOf(results),
  };
  await commitVolume(ports, view, [{ kind: 'volume.patch', volumeId: volume.id, patch: { verification } }]);
  return 'continue';
}

async function checksumOf(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replica, requestedAt }: { replica: Replica; requestedAt: Date },
): Promise<CopyResult | 'running'> {
  const replicaId = replica.id;
  try {
    const agent = await agentOf(ports, nodeOf(view, replica).id);
    const found = await ports.agents.checksumReplica(agent, replicaId, requestedAt.toISOString());
    if (found === undefined) return 'running';
    return { replicaId, checksum: found.checksum, writtenBytes: found.writtenBytes, error: null };
  } catch (error) {
    if (!isFault(error)) throw error;
    // It goes on there. An agent that stays silent soon counts as dead, and its copy is left out.
    if (error.code === 'agent.unreachable') return 'running';
    return { replicaId, checksum: null, writtenBytes: null, error: error.message };
  }
}

function leftOut({ id }: Replica): CopyResult {
  return { replicaId: id, checksum: null, writtenBytes: null, error: 'its node does not answer' };
}

function tooLate({ id }: Replica): CopyResult {
  return { replicaId: id, checksum: null, writtenBytes: null, error: 'it was not read in time' };
}

function verdictOf(results: readonly CopyResult[]): Pick<VolumeVerification, 'state' | 'equal' | 'message'> {
  const checksums = results.flatMap(({ checksum }) => (checksum === null ? [] : [checksum]));
  if (checksums.length === 0) {
    return { state: 'failed', equal: undefined, message: 'no copy could be read' };
  }
  const equal = new Set(checksums).size === 1;
  const compared = `${checksums.length} of ${results.length} copies compared`;
  return { state: 'done', equal, message: `${compared}: ${equal ? 'all equal' : 'they differ'}` };
}
