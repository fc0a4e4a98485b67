/** A volume as scripts get it: the API's own object, in which nothing stands that a silent node has said before. Tables say the same. */
import {
  copyHealth,
  isNotServed,
  type SilentNodes,
  shownAddress,
  volumeHealth,
} from '@holdfast/core/policy/silent-nodes.js';
import type { Volume } from './types.js';

export function shownVolume(volume: Volume, silent: SilentNodes): Volume {
  if (silent.size === 0) return volume;
  const isSilent = shownAddress(volume, silent).kind === 'silent';
  return {
    ...volume,
    robustness: shownRobustness(volume, silent),
    endpoint: isSilent && volume.endpoint !== null ? { ...volume.endpoint, nbdUri: null } : volume.endpoint,
    replicas: volume.replicas.map((copy) => {
      const isKnown = !isNotServed(volume, silent) && copyHealth(copy, volume, silent) !== 'noAnswer';
      // That it failed is known from an engine that answers.
      return isKnown || copy.mode === 'ERR' ? copy : { ...copy, mode: null };
    }),
  };
}

/** `unknown` where the node that serves it is silent. Words of ours that say more, such as `creating`, are for people. */
function shownRobustness(volume: Volume, silent: SilentNodes): Volume['robustness'] {
  const health = volumeHealth(volume, silent);
  if (health === 'notServed') return 'unknown';
  return health === 'creating' || health === 'notPlaced' ? volume.robustness : health;
}
