/**
 * Decides whether a volume whose copies differ may go on with those that a person names. Only while it is detached: an engine would
 * go on reading from the others. The named ones have to be alike, or the question would stay.
 */

import type { ReplicaId } from '../model/ids.js';
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { holderOf, requestOf } from '../model/volume-lifecycle.js';
import { ALLOWED, type Decision, refuse } from '../policy/decision.js';
import { type Difference, differencesOf } from './differing-copies.js';

type ChoiceView = Pick<VolumeView, 'volume' | 'replicas' | 'snapshots'>;

export function decideChoice(
  view: ChoiceView,
  named: readonly ReplicaId[],
): Decision<
  'volume.attached' | 'volume.not_faulted' | 'volume.not_verified' | 'replica.not_found' | 'replica.not_full'
> {
  const { volume, replicas } = view;
  const { name, verification } = volume;
  const differences = differencesOf(view);
  if (differences.length === 0)
    return refuse('volume.not_faulted', `no choice between copies of volume ${name} is open`, [
      'verify it while it is detached: where copies differ without a majority it says so',
    ]);
  if (requestOf(volume) !== undefined || holderOf(volume) !== undefined)
    return refuse('volume.attached', `volume ${name} is attached, and its engine reads from all copies`, [
      'detach and verify it first',
    ]);
  // Current copies are known for this epoch only.
  if (verification?.epoch !== volume.epoch || verification.believed === undefined)
    return refuse('volume.not_verified', `volume ${name} was not verified since it was last attached`, [
      'verify it first',
    ]);
  const { replicaIds } = verification.believed;
  for (const id of named) {
    const replica = replicas.find((candidate) => candidate.id === id);
    if (replica === undefined)
      return refuse('replica.not_found', `volume ${name} has no replica ${id}`, [
        'choose some of its replicas',
      ]);
    if (!isHealthy(replica) || !replicaIds.includes(id))
      return refuse('replica.not_full', `replica ${id} is not one of the current copies`, [
        'name copies that the last verification has read',
      ]);
  }
  return areAlike(differences, named)
    ? ALLOWED
    : refuse('replica.not_full', 'the named copies are not known to be alike', [
        'name copies with the same checksum',
      ]);
}

function areAlike(differences: readonly Difference[], named: readonly ReplicaId[]): boolean {
  if (named.length === 0) return false;
  return differences.every(({ copies }) => {
    const sums = named.map((id) => copies.find(({ replicaId }) => replicaId === id)?.checksum);
    return new Set(sums).size === 1 && sums[0] !== undefined;
  });
}
