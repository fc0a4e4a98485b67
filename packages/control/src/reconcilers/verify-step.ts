import type { Step } from '@holdfast/core/lifecycle/step.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { VolumeVerification } from '@holdfast/core/model/volume.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { nodeOf } from './step-lookup.js';

type CopyResult = VolumeVerification['replicas'][number];

/** Reads every copy from end to end and compares. Takes as long as reading does; repeated from the start if cut off. */
export async function verifyCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaIds }: Extract<Step, { kind: 'verify' }>,
): Promise<StepOutcome> {
  const { volume, replicas } = view;
  // Failed copies are known to be old: they are rebuilt or removed, and say nothing about the others.
  const copies = replicas.filter(({ failedAt }) => failedAt === undefined);
  const results = await Promise.all(
    copies.map((replica) =>
      replicaIds.includes(replica.id) ? checksumOf(ports, view, replica) : leftOut(replica),
    ),
  );
  const verification: VolumeVerification = {
    requestedAt: volume.verification?.requestedAt ?? ports.clock.now(),
    finishedAt: ports.clock.now(),
    replicas: results,
    ...verdictOf(results),
  };
  await commitVolume(ports, view, [{ kind: 'volume.patch', volumeId: volume.id, patch: { verification } }]);
  return 'continue';
}

async function checksumOf(ports: ReconcilerPorts, view: VolumeView, replica: Replica): Promise<CopyResult> {
  const replicaId = replica.id;
  try {
    const agent = await agentOf(ports, nodeOf(view, replica).id);
    const { checksum, writtenBytes } = await ports.agents.checksumReplica(agent, replicaId);
    return { replicaId, checksum, writtenBytes, error: null };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { replicaId, checksum: null, writtenBytes: null, error: error.message };
  }
}

function leftOut({ id }: Replica): CopyResult {
  return { replicaId: id, checksum: null, writtenBytes: null, error: 'its node does not answer' };
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
