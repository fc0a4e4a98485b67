/** How many copies make a volume how robust. */
import type { Robustness } from './volume.js';

/** Of a volume that is served: by the copies that its engine uses. */
export function robustnessInUse(copies: number, wanted: number): Robustness {
  if (copies >= wanted) return 'healthy';
  return copies > 0 ? 'degraded' : 'faulted';
}

/**
 * Of a volume that no engine serves: by its full copies that can be reached. Those on nodes that do not answer may be as good as
 * ever.
 */
export function robustnessAtRest(copies: number, wanted: number): Robustness {
  return copies === 0 ? 'unknown' : robustnessInUse(copies, wanted);
}
