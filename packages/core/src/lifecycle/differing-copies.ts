/**
 * Copies that differ without a majority, as found by the last verification or the last hash of a snapshot. Nothing is failed then: a
 * person chooses the copies to continue with (`decide-choice.ts`).
 *
 * A copy that was rebuilt since has the data of another one and is left out, so the question ends with its cause.
 */

import type { Change } from '../model/changes.js';
import { conditionOf, withCondition } from '../model/condition.js';
import type { ReplicaId } from '../model/ids.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { nodeName, volumeEvent } from '../model/volume-facts.js';
import { judgeSums, type SummedCopy } from './judge-copies.js';

const TYPE = 'CopiesDiffer';

/** Subject of a comparison, with each copy's checksum. */
export type Difference = {
  /** `undefined`: in all that a client reads. */
  readonly snapshotName: string | undefined;
  readonly copies: readonly SummedCopy<ReplicaId>[];
};

type CopiesView = Pick<VolumeView, 'volume' | 'replicas' | 'snapshots'>;

export function differencesOf(view: CopiesView): Difference[] {
  const found = [ofVerification(view), ...ofSnapshots(view)];
  return found.filter((difference) => difference !== undefined);
}

function ofVerification({ volume: { verification }, replicas }: CopiesView): Difference | undefined {
  if (verification?.verdict !== 'tie') return undefined;
  const { believed, requestedAt } = verification;
  const current = replicas.filter(({ id }) => believed?.replicaIds.includes(id));
  return tieOf(undefined, verification.replicas, fullSince(current, requestedAt));
}

/** While a snapshot is hashed some of its sums are new and some are old. */
function ofSnapshots({ volume: { chain }, replicas, snapshots }: CopiesView): (Difference | undefined)[] {
  if (chain === undefined) return [];
  const full = fullSince(replicas, chain.readAt);
  return snapshots
    .filter(({ state, hashRequest }) => state === 'ready' && hashRequest === undefined)
    .map(({ name, checksums }) => tieOf(name, checksums, full));
}

function fullSince(replicas: readonly Replica[], time: Date): Replica[] {
  return replicas.filter((replica) => isHealthy(replica) && (replica.healthyAt ?? time) <= time);
}

function tieOf(
  snapshotName: string | undefined,
  sums: readonly { replicaId: string; checksum: string | null }[],
  full: readonly Replica[],
): Difference | undefined {
  const copies = full.flatMap(({ id: replicaId }) => {
    const checksum = sums.find((sum) => sum.replicaId === replicaId)?.checksum;
    return checksum === null || checksum === undefined ? [] : [{ replicaId, checksum }];
  });
  return judgeSums(copies, full.length).kind === 'tie' ? { snapshotName, copies } : undefined;
}

/** Asks a person which copies are right, as a condition and once as an event. `undefined`: nothing new. */
export function differenceConditions(
  view: VolumeView,
  conditions: Volume['conditions'],
  now: Date,
): { conditions: Volume['conditions']; changes: Change[] } | undefined {
  const [first] = differencesOf(view);
  const known = conditionOf(conditions, TYPE);
  if (first === undefined && known?.status !== 'True') return undefined;
  // The last answer stands until there is another one.
  const { verification } = view.volume;
  if (first === undefined && verification !== undefined && verification.state !== 'done') return undefined;
  const next = shown(view, first);
  if (known?.status === next.status && known.message === next.message) return undefined;
  const isNew = next.status === 'True' && known?.status !== 'True';
  const event = volumeEvent(view, now, { type: TYPE, message: next.message });
  return {
    conditions: withCondition(conditions, next, now),
    changes: isNew ? [{ kind: 'event', event }] : [],
  };
}

function shown(view: VolumeView, difference: Difference | undefined) {
  if (difference === undefined) return { type: TYPE, status: 'False', reason: '', message: '' } as const;
  const { name } = view.volume;
  const { snapshotName, copies } = difference;
  const where = snapshotName === undefined ? '' : ` in snapshot ${snapshotName}`;
  const holders = copies.map(({ replicaId, checksum }) => {
    const nodeId = view.replicas.find(({ id }) => id === replicaId)?.nodeId;
    return `the one on ${nodeName(view.fleet, nodeId)} (${replicaId}) has ${checksum}`;
  });
  const message =
    `copies of volume ${name} differ${where}, and no majority says which are right: ${holders.join(', ')}; detach and verify ` +
    `it, then go on with those that you know to be right: holdfast volume accept-copies ${name} --copies <ids>`;
  return { type: TYPE, status: 'True', reason: 'NoMajority', message } as const;
}
