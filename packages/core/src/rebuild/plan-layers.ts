/**
 * How each frozen layer's data gets to the target of a rebuild. One pure decision, so that delta and fast rebuilds
 * are further answers of this function and not further code paths around it.
 */
import type { RebuildMethod } from '../model/rebuild.js';

export type LayerFacts = {
  id: string;
  name: string;
  /** Whether the target holds this very layer already. A target that starts over holds none. */
  onTarget: 'absent';
};

export type LayerPlan = { id: string; name: string; method: RebuildMethod; reason: string };

export function planLayers(layers: readonly LayerFacts[]): LayerPlan[] {
  return layers.map(({ id, name }) => ({
    id,
    name,
    method: 'full',
    reason: 'the target does not have this layer',
  }));
}
