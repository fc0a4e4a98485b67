/** Decides about another data locality of a volume: strict locality says where its engine may run, so it changes without one. */
import type { DataLocality } from '../model/volume.js';
import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, refuse } from './decision.js';

export function decideLocality(
  { name, state }: Pick<ActionFacts, 'name' | 'state'>,
  from: DataLocality,
  to: DataLocality,
): Decision<'volume.attached'> {
  const concernsStrict = (from === 'strict-local') !== (to === 'strict-local');
  if (!concernsStrict || state === 'detached') return ALLOWED;
  return refuse(
    'volume.attached',
    `volume ${name} is ${state}; strict data locality is switched on and off only while a volume is detached`,
    ['detach it first'],
  );
}
