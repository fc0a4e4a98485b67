/** How many copies make a volume how robust. */
import type { Robustness } from './volume.js';

/** Of a volume that is served: by the copies that its engine uses. */
export function robustnessInUse(copies: number, wanted: number): Robustness {
  if (copies >= wanted) return 'healthy';
  return copies > 0 ? 'degraded' : 'faulted';
}

/** May an engine start on so many of the copies that the last record names? Fewer than half may have been left behind by the others. */
export function isEnoughToStart(copies: number, members: number): boolean {
  return copies > 0 && copies * 2 >= members;
}

/**
 * Of a volume without an engine: by its full copies that can be reached. Those on nodes that do not answer may be as good as ever; if
 * no engine may start without them, the robustness is unknown.
 *
 * @param members copies that its last record names, all of them full
 */
export function robustnessAtRest(copies: number, wanted: number, members = wanted): Robustness {
  return isEnoughToStart(copies, members) ? robustnessInUse(copies, wanted) : 'unknown';
}
