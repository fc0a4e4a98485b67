import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';
import { refusalWhileDeleting, refusalWhileFilling } from './refusals.js';

/** May all copies be read and compared? Not while an engine is there: they would change under the reader. */
export function decideVerification(facts: ActionFacts): Decision {
  const refusal = refusalWhileDeleting(facts) ?? refusalWhileFilling(facts);
  if (refusal !== undefined) return refusal;
  const { name, isRepairing, isBeingVerified, attachment, attachedNodeId } = facts;
  if (isRepairing) {
    return refuse('volume.busy', `missing copies of volume ${name} are being rebuilt`, [
      'wait until that has ended',
    ]);
  }
  if (attachment !== undefined || attachedNodeId !== undefined) {
    const why = `volume ${name} is attached; its copies can be compared only while it is detached`;
    return refuse('volume.attached', why, ['detach it first']);
  }
  return isBeingVerified ? unchanged(`the copies of volume ${name} are being compared`) : ALLOWED;
}

/** May the comparison of copies be ended? Always: what has been read so far stays. */
export function decideVerificationEnd({ name, isBeingVerified }: ActionFacts): Decision {
  return isBeingVerified ? ALLOWED : unchanged(`the copies of volume ${name} are not being compared`);
}
