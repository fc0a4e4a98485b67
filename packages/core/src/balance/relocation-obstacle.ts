/** Why a relocation is not wanted any more, or can't succeed. */
import { isActiveRebuild } from '../model/rebuild.js';
import type { Relocation } from '../model/relocation.js';
import type { Replica } from '../model/replica.js';
import { isAwayFromUsers } from '../model/strict-locality.js';
import type { VolumeView } from '../model/views.js';
import { isEvicting, lastingCopies, nodeName } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { effectiveValue } from '../policy/volume-settings.js';
import { placeMismatch } from './selector-move.js';

/** While its replacement is not a full copy yet. */
export function relocationObstacle(
  view: VolumeView,
  replacement: Replica & { readonly relocation: Relocation },
): string | undefined {
  const { fleet } = view;
  if (replacement.failedAt !== undefined) return `its rebuild failed: ${replacement.failure?.message ?? ''}`;
  if (isEvicting(replacement, fleet, view.replicas))
    return `${nodeName(fleet, replacement.nodeId)} is being emptied`;
  if (wasCancelled(view, replacement)) return 'its rebuild was cancelled';
  const away = localityObstacle(view, replacement);
  if (away !== undefined) return away;
  if (lastingCopies(view).length > view.volume.spec.numberOfReplicas)
    return 'the volume has more copies than it wants';
  return UNWANTED[replacement.relocation.reason](view, replacement);
}

/** Also of a full replacement: a user has attached the volume where the old copy is. */
export function localityObstacle(view: VolumeView, replacement: Replica): string | undefined {
  if (!isAwayFromUsers(replacement, view)) return undefined;
  const { volume, fleet } = view;
  return `volume ${volume.name} has strict data locality, and is attached on ${nodeName(fleet, holderOf(volume))}`;
}

function wasCancelled({ rebuilds }: VolumeView, { id }: Replica): boolean {
  const own = rebuilds.filter(({ targetReplicaId }) => targetReplicaId === id);
  return own.some(({ state }) => state === 'cancelled') && !own.some(isActiveRebuild);
}

type Judge = (
  view: VolumeView,
  replacement: Replica & { readonly relocation: Relocation },
) => string | undefined;

const UNWANTED: Readonly<Record<Relocation['reason'], Judge>> = {
  requested: () => undefined,
  locality: ({ volume }, { nodeId }) =>
    holderOf(volume) === nodeId && volume.spec.dataLocality === 'best-effort'
      ? undefined
      : 'its engine does not run there, or needs no copy there any more',
  balance: ({ volume, fleet }) => {
    if (volume.lifecycle.state === 'detached') return 'the volume was detached';
    const effort = effectiveValue(volume.spec, fleet.settings, 'replicaAutoBalance');
    return effort === 'disabled' ? 'balancing was switched off' : undefined;
  },
  selector: (view, { relocation }) => {
    const replaced = view.replicas.find(({ id }) => id === relocation.replacesId);
    if (!view.fleet.settings['replica-relocate-on-selector-change']) return 'the setting was switched off';
    return replaced === undefined || placeMismatch(view, replaced) !== undefined
      ? undefined
      : 'the copy that it was to replace matches the selectors again';
  },
};
