/** Decides what users may do with a rebuild. */
import { isActiveRebuild, type Rebuild } from '../model/rebuild.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

type RebuildFacts = Pick<Rebuild, 'state'>;

export function decideCancellation(rebuild: RebuildFacts): Decision<'rebuild.finished'> {
  return rebuild.state === 'cancelled'
    ? unchanged('the rebuild is cancelled already')
    : decideTuning(rebuild);
}

/** May it be paused, resumed, or limited? */
export function decideTuning(rebuild: RebuildFacts): Decision<'rebuild.finished'> {
  if (isActiveRebuild(rebuild)) return ALLOWED;
  return refuse('rebuild.finished', `the rebuild has ${rebuild.state} already`);
}
