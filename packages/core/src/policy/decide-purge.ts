import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';
import { refusalUnlessAttached, refusalWhileDeleting, refusalWhileTaskWaits } from './refusals.js';

/**
 * May deleted layers, and those that rebuilds left behind, be taken out?
 *
 * @param isSwitchedOff by the cluster's setting `disable-snapshot-purge`
 */
export function decidePurge(facts: ActionFacts, isSwitchedOff: boolean): Decision {
  const refusal = refusalWhileDeleting(facts) ?? refusalUnlessAttached(facts);
  if (refusal !== undefined) return refusal;
  if (facts.task?.kind === 'purge') return unchanged(`a purge of volume ${facts.name} is asked for already`);
  if (isSwitchedOff) {
    return refuse('volume.busy', 'purging is switched off in this cluster', [
      'set disable-snapshot-purge to false',
    ]);
  }
  return refusalWhileTaskWaits(facts) ?? ALLOWED;
}
