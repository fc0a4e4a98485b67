/** Refusals that several actions of a volume share. Each is `undefined` where it does not apply. */
import type { ActionFacts } from './action-facts.js';
import { type Refusal, refuse } from './decision.js';

export function refusalWhileDeleting({
  isDeleting,
  name,
}: Pick<ActionFacts, 'name' | 'isDeleting'>): Refusal<'volume.deleting'> | undefined {
  return isDeleting ? refuse('volume.deleting', `volume ${name} is being deleted`) : undefined;
}

/** A clone is not used before it holds what it was cloned from. */
export function refusalWhileFilling({
  isBeingFilled,
  name,
}: Pick<ActionFacts, 'name' | 'isBeingFilled'>): Refusal<'volume.busy'> | undefined {
  if (!isBeingFilled) return undefined;
  return refuse('volume.busy', `volume ${name} is still being filled from the snapshot it was cloned from`, [
    'wait until it is detached',
    'delete it',
  ]);
}

/** What changes layers is done by the engine, on all copies at once. */
export function refusalUnlessAttached(
  facts: ActionFacts,
): Refusal<'volume.busy' | 'volume.not_attached'> | undefined {
  const { name, isRepairing } = facts;
  const state = isRepairing ? 'detached' : facts.state;
  if (facts.isBeingFilled || state === 'attached') return refusalWhileFilling(facts);
  return refuse(
    'volume.not_attached',
    `volume ${name} is ${state}; only an attached volume's snapshots can be changed`,
    ['attach it first'],
  );
}

/** A volume grows while it is attached, or detached: the worker attaches it then. In between its state is about to change. */
export function refusalUnlessSettled(
  facts: ActionFacts,
): Refusal<'volume.busy' | 'volume.not_attached'> | undefined {
  const { name, isRepairing, state } = facts;
  if (facts.isBeingFilled || state === 'attached' || state === 'detached' || isRepairing)
    return refusalWhileFilling(facts);
  return refuse(
    'volume.not_attached',
    `volume ${name} is ${state}; it grows while it is attached or detached`,
    ['wait until it is attached or detached'],
  );
}

/** One task at a time. A purge, which is mostly the worker's own, gives way: what it leaves goes with the next one. */
export function refusalWhileTaskWaits({ name, task }: ActionFacts): Refusal<'volume.busy'> | undefined {
  if (task === undefined || task.kind === 'purge') return undefined;
  return refuse('volume.busy', `volume ${name} is busy: its ${task.kind} has not ended`, [
    'wait until it has ended',
  ]);
}
