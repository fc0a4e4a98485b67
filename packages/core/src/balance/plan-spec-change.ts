/** Plan of a change of a volume's spec: the effect on its copies. Users see it before they request the change. */
import type { ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { VolumeSpec } from '../model/volume.js';
import { lastingCopies, nodeName } from '../model/volume-facts.js';
import { surplusVictims } from '../policy/decide-surplus.js';
import { misfits } from './selector-move.js';

/** A copy that the plan says something of. */
export type CopyOnPlan = {
  readonly replicaId: ReplicaId;
  readonly nodeName: string | undefined;
  readonly diskName: string | undefined;
  readonly why: string;
};

export type SpecChangePlan = {
  readonly sentence: string;
  /** In the order in which they go. */
  readonly removes: readonly CopyOnPlan[];
  readonly adds: number;
  /** Those that do not match the selectors any more. */
  readonly unfit: readonly CopyOnPlan[];
};

export function planSpecChange(view: VolumeView, spec: VolumeSpec): SpecChangePlan {
  const after: VolumeView = { ...view, volume: { ...view.volume, spec } };
  const removes = surplusVictims(after).map(({ replica, why }) => copyOf(view, replica, why));
  const adds = Math.max(0, spec.numberOfReplicas - lastingCopies(view).length);
  const leaving = new Set(removes.map(({ replicaId }) => replicaId));
  const unfit = misfits(after)
    .filter(({ replica }) => !leaving.has(replica.id))
    .map(({ replica, rejection }) => copyOf(view, replica, rejection.message));
  return { sentence: sentenceOf(after, { removes, adds, unfit }), removes, adds, unfit };
}

function copyOf({ fleet }: VolumeView, { id, nodeId, diskId }: Replica, why: string): CopyOnPlan {
  return {
    replicaId: id,
    nodeName: nodeId === undefined ? undefined : nodeName(fleet, nodeId),
    diskName: fleet.disks.find((disk) => disk.id === diskId)?.name,
    why,
  };
}

function sentenceOf(
  { volume, fleet }: VolumeView,
  { removes, adds, unfit }: Omit<SpecChangePlan, 'sentence'>,
): string {
  const isAttached = volume.lifecycle.state === 'attached';
  const goes = removes.length === 1 ? 'goes' : 'go';
  const moves = fleet.settings['replica-relocate-on-selector-change'];
  const parts = [
    ...(removes.length === 0
      ? []
      : [
          `the copy on ${removes.map(placeText).join(', then the one on ')} ${goes}${isAttached ? '' : ' at the next attach'}`,
        ]),
    ...(adds === 0 ? [] : [`${countText(adds)} made${isAttached ? '' : ' when it is rebuilt'}`]),
    ...(unfit.length === 0
      ? []
      : [
          `the copy on ${unfit.map(placeText).join(', and the one on ')} would not match, and ${moves ? 'moves' : 'stays'}`,
        ]),
  ];
  return parts.length === 0 ? 'its copies stay as they are' : parts.join('; ');
}

function placeText({ nodeName: node, diskName: disk, replicaId }: CopyOnPlan): string {
  return node === undefined
    ? `no place (replica ${replicaId})`
    : `${node}${disk === undefined ? '' : ` (disk ${disk})`}`;
}

function countText(count: number): string {
  return count === 1 ? '1 copy is' : `${count} copies are`;
}
