/** Runs the vectors that ask which failed replica comes back and how long a new one has to wait. */
import { newReplicaWaitSeconds, replicasToReuse } from '../longhorn/reuse-failed.js';
import type { Comparison } from './answer.js';
import { toFleet } from './to-fleet.js';
import { degradedSince, toRequest, type VectorPlacement } from './to-request.js';
import type { VectorOf, VectorReplica } from './vector.js';

type ReuseVector = VectorOf<'reuse-failed-replica'>;

export function runReuse(vector: ReuseVector): Comparison {
  const wanted = vector.expectedReuse;
  const names = reusableNames(vector);
  const waitSeconds = waitFor(vector);
  const [first] = names;
  const isRight =
    first === undefined ? wanted.acceptableReplicas.length === 0 : wanted.acceptableReplicas.includes(first);
  const passed = isRight && waitSeconds === wanted.requireNewReplicaWaitSeconds;
  return {
    passed,
    exact: passed && names.join() === wanted.acceptableReplicas.join(),
    got: describe(names, waitSeconds),
    wanted: describe(wanted.acceptableReplicas, wanted.requireNewReplicaWaitSeconds),
  };
}

function reusableNames(vector: ReuseVector): string[] {
  if (isFullRebuildOnly(vector)) return [];
  // Anti-affinity asks for the time, and Longhorn gives up where it can't read it. The wait does not mind.
  if (degradedSince(vector.volume) === 'unreadable') return [];
  const replicas = vector.existingReplicas
    .filter(({ active }) => active)
    // One that lives holds its place, wherever its source is.
    .filter((replica) => replica.failedAt === '' || mayReturnAsClone(replica, vector));
  const { request, fleet } = question(vector, replicas);
  return replicasToReuse(request, fleet, new Date(vector.now))
    .map(({ id }) => String(id))
    .sort();
}

function waitFor(vector: ReuseVector): number {
  if (isFullRebuildOnly(vector)) return 0;
  // Here one that is not running counts: it may still be started.
  const { request, fleet } = question(vector, vector.existingReplicas);
  return newReplicaWaitSeconds(request, fleet, new Date(vector.now));
}

/** v2 brings a replica back only by the checksums of a fast rebuild. */
function isFullRebuildOnly({ volume, settings }: ReuseVector): boolean {
  return volume.dataEngine === 'v2' && !settings.fastReplicaRebuildEnabledV2;
}

/**
 * A linked clone's replica that names its source shares blocks with that one, so the source has to be there still, and
 * whole; one that is to leave will do, where a new replica needs one that stays.
 */
function mayReturnAsClone(replica: VectorReplica, vector: ReuseVector): boolean {
  const { linkedCloneSrcReplicaName: sourceName } = replica;
  if (vector.volume.linkedCloneOfVolume === '' || sourceName === '') return true;
  return vector.linkedCloneSourceReplicas.some(
    ({ name, healthyAt, failedAt, nodeId, diskId }) =>
      name === sourceName &&
      healthyAt !== '' &&
      failedAt === '' &&
      nodeId === replica.nodeId &&
      diskId === replica.diskId,
  );
}

function question(vector: ReuseVector, replicas: readonly VectorReplica[]) {
  const { volume, settings, nodes, linkedCloneSourceReplicas } = vector;
  const placement: VectorPlacement = {
    volume,
    settings,
    nodes,
    replicas,
    cloneSourceReplicas: linkedCloneSourceReplicas,
  };
  const anyReplica: VectorReplica = {
    name: '',
    nodeId: '',
    diskId: '',
    size: volume.size,
    healthyAt: '',
    failedAt: '',
    active: true,
    evictionRequested: false,
    deleting: false,
    rebuildRetryCount: 0,
    hardNodeAffinity: vector.hardNodeAffinity,
    linkedCloneSrcReplicaName: '',
    volumeName: volume.name,
  };
  return {
    request: toRequest(placement, anyReplica),
    fleet: toFleet({ nodes, settings, conditions: 'recorded' }, volume.dataEngine),
  };
}

function describe(names: readonly string[], waitSeconds: number): string {
  const reuse = names.length === 0 ? 'reuse none' : `reuse ${names.join(' or ')}`;
  return `${reuse}, wait ${waitSeconds} s`;
}
