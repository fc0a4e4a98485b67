/** Effects that a request would have on copies: what a dry run tells beside the fields that change. */
import type { DiskId, NodeId, ReplicaId, VolumeId } from '../model/ids.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { NodeVolumes } from '../model/views.js';
import type { Volume } from '../model/volume.js';

/** `discarded`: its data is given up, and it is built anew. */
export type CopyEffectKind = 'removed' | 'built' | 'moved' | 'discarded';

export type CopyEffect = {
  readonly effect: CopyEffectKind;
  readonly volumeId: VolumeId;
  readonly volumeName: string;
  /** `undefined`: a copy that is not there yet. */
  readonly replicaId: ReplicaId | undefined;
  readonly nodeId: NodeId | undefined;
  readonly diskId: DiskId | undefined;
  /** Data that is removed, or has to be copied. */
  readonly bytes: number;
};

type CopiesOf = { readonly volume: Volume; readonly replicas: readonly Replica[] };

export function effectOn({ volume }: CopiesOf, replica: Replica, effect: CopyEffectKind): CopyEffect {
  const { id: replicaId, nodeId, diskId, writtenBytes } = replica;
  // What is removed is what the disk holds; what is copied is what the volume holds.
  const bytes = effect === 'removed' ? writtenBytes : volume.writtenBytes;
  return { effect, volumeId: volume.id, volumeName: volume.name, replicaId, nodeId, diskId, bytes };
}

/** A copy that is made in addition, or in the place of one that goes. */
export function builtCopy({ id: volumeId, name: volumeName, writtenBytes: bytes }: Volume): CopyEffect {
  const nowhere = { replicaId: undefined, nodeId: undefined, diskId: undefined };
  return { effect: 'built', volumeId, volumeName, ...nowhere, bytes };
}

/** The volume's deletion: all of its copies go. */
export function effectsOfDeletion(view: CopiesOf): CopyEffect[] {
  return view.replicas.map((replica) => effectOn(view, replica, 'removed'));
}

/** The removal of one copy, in whose place another is built. */
export function effectsOfRemoval(view: CopiesOf, replicaId: ReplicaId): CopyEffect[] {
  const replica = view.replicas.find(({ id }) => id === replicaId);
  if (replica === undefined || replica.intent === 'remove') return [];
  const staying = view.replicas.filter(({ id, intent }) => id !== replicaId && intent !== 'remove').length;
  const isReplaced = staying < view.volume.spec.numberOfReplicas;
  return [effectOn(view, replica, 'removed'), ...(isReplaced ? [builtCopy(view.volume)] : [])];
}

/** Going on with some copies: the others are built anew from them. */
export function effectsOfSalvage(view: CopiesOf, chosen: readonly ReplicaId[]): CopyEffect[] {
  if (chosen.length === 0) return [];
  const others = view.replicas.filter(({ id, intent }) => !chosen.includes(id) && intent !== 'remove');
  return others.map((replica) => effectOn(view, replica, 'discarded'));
}

/** Emptying a node or a disk: what is on it moves. */
export function effectsOfEviction(
  { volumes }: Pick<NodeVolumes, 'volumes'>,
  isOnIt: (replica: Replica) => boolean,
): CopyEffect[] {
  return volumes.flatMap((view) =>
    view.replicas
      .filter((replica) => isOnIt(replica) && replica.intent !== 'remove')
      .map((replica) => effectOn(view, replica, 'moved')),
  );
}

/** The node is gone for good: what is on it is given up, and built elsewhere from another full copy. */
export function effectsOfForgetting({ volumes }: Pick<NodeVolumes, 'volumes'>, nodeId: NodeId): CopyEffect[] {
  return volumes.flatMap((view) => {
    const given = view.replicas.filter((one) => one.nodeId === nodeId && one.intent !== 'remove');
    const hasSource = view.replicas.some((one) => one.nodeId !== nodeId && isHealthy(one));
    return given.flatMap((replica) => [
      effectOn(view, replica, 'removed'),
      ...(hasSource ? [builtCopy(view.volume)] : []),
    ]);
  });
}

export function bytesOf(effects: readonly CopyEffect[]): { removed: number; copied: number } {
  const sum = (isCounted: (effect: CopyEffect) => boolean) =>
    effects.filter(isCounted).reduce((total, { bytes }) => total + bytes, 0);
  return {
    removed: sum(({ effect }) => effect === 'removed'),
    copied: sum(({ effect }) => effect !== 'removed'),
  };
}
