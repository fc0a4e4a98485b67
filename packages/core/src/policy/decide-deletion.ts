import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

/** May the volume be deleted, with all its copies? */
export function decideDeletion(facts: ActionFacts): Decision {
  const { name, isDeleting, isBeingFilled, isRepairing, attachment, attachedNodeId } = facts;
  if (isDeleting) return unchanged(`volume ${name} is being deleted`);
  if (facts.clonedSnapshotIds.length > 0) {
    return refuse('volume.in_use', `volume ${name} is being cloned`, [
      'wait until its clones are filled',
      'delete the clones',
    ]);
  }
  // While it is filled or rebuilt only the worker holds it, and its engine is stopped before its copies go.
  const isWorkersOwn = isBeingFilled || isRepairing;
  if (isWorkersOwn || (attachment === undefined && attachedNodeId === undefined)) return ALLOWED;
  return refuse('volume.attached', `volume ${name} is attached`, ['detach it first']);
}
