import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision } from './decision.js';
import { refusalUnlessSettled, refusalWhileDeleting, refusalWhileTaskWaits } from './refusals.js';

/** May what is wanted of the volume be changed: its settings, its number of copies, its recurring snapshots? */
export function decideChange(facts: Pick<ActionFacts, 'name' | 'isDeleting'>): Decision {
  return refusalWhileDeleting(facts) ?? ALLOWED;
}

/** May the volume grow, as far as its state says? Whether its disks have the space is another decision. */
export function decideGrowth(facts: ActionFacts): Decision {
  return (
    refusalWhileDeleting(facts) ?? refusalUnlessSettled(facts) ?? refusalWhileTaskWaits(facts) ?? ALLOWED
  );
}
