/** Refusals that several actions of a volume share. Each is `undefined` where it does not apply. */
import type { ActionFacts } from './action-facts.js';
import { type Refusal, refuse } from './decision.js';

export function refusalWhileDeleting({
  isDeleting,
  name,
}: ActionFacts): Refusal<'volume.deleting'> | undefined {
  return isDeleting ? refuse('volume.deleting', `volume ${name} is being deleted`) : undefined;
}

/** A clone is not used before it holds what it was cloned from. */
export function refusalWhileFilling({
  isBeingFilled,
  name,
}: ActionFacts): Refusal<'volume.busy'> | undefined {
  if (!isBeingFilled) return undefined;
  return refuse('volume.busy', `volume ${name} is still being filled from the snapshot it was cloned from`, [
    'wait until it is detached',
    'delete it',
  ]);
}
