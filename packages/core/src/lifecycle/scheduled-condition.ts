import type { Condition } from '../model/condition.js';
import type { ClusterSettings } from '../model/setting.js';
import type { StoredExplanation } from '../model/stored-explanation.js';
import type { Volume } from '../model/volume.js';
import { holderOf } from '../model/volume-lifecycle.js';
import type { CandidateRefusal } from '../scheduling/framework/framework.js';
import { describeRefusals } from '../scheduling/placement/explain.js';

export type ScheduledFacts = {
  /** Replicas that have a disk and have not failed. */
  readonly placedCount: number;
  /** Why the next replica found no disk; `undefined` when none is missing or placement has not been tried yet. */
  readonly refusals: readonly CandidateRefusal[] | undefined;
  readonly settings: ClusterSettings;
};

/** Long enough for a dozen disks with their numbers; a condition travels with every read of the volume. */
const REFUSALS_LENGTH_MAX = 3000;
const SENTENCE_LENGTH_MAX = 1000;
/** Nothing was tried yet, or all that is missing may still return. */
const NOT_TRIED = 'the others wait for one';
const NO_GRANTED_PLACE = 'no further disk that the grant of this cluster allows can take one';
/** All have one, but one of their nodes does not answer, or is to be left. */
const NO_REPLACEMENT = ', but none is found for the replacement of one that is lost or to leave';
/** Between how many have a place and why the others have none: where the sentence goes. */
const COLON = ': ';

/**
 * Whether every wanted replica has a place.
 *
 * A detached volume with some places counts as scheduled if degraded creation is allowed, because it may attach; the message still
 * names the missing places.
 */
export function scheduledCondition(
  volume: Pick<Volume, 'spec' | 'lifecycle' | 'grantedTags'>,
  { placedCount, refusals, settings }: ScheduledFacts,
): Omit<Condition<'Scheduled'>, 'lastTransitionAt'> {
  const wanted = volume.spec.numberOfReplicas;
  if (placedCount >= wanted && refusals === undefined)
    return { type: 'Scheduled', status: 'True', reason: '', message: '' };

  const why = refusals === undefined ? NOT_TRIED : whyNot(volume, refusals);
  const head = `${placedCount} of ${wanted} replicas have a place${placedCount < wanted ? '' : NO_REPLACEMENT}`;
  const message = `${head}${COLON}${why}`.slice(0, REFUSALS_LENGTH_MAX);
  const mayAttachDegraded =
    settings['allow-volume-creation-with-degraded-availability'] &&
    holderOf(volume) === undefined &&
    placedCount > 0;
  if (mayAttachDegraded) return { type: 'Scheduled', status: 'True', reason: 'ScheduledDegraded', message };
  return { type: 'Scheduled', status: 'False', reason: 'ReplicaSchedulingFailure', message };
}

/** Users of another organization's cluster learn only that there is no room. */
function whyNot({ grantedTags }: Pick<Volume, 'grantedTags'>, refusals: readonly CandidateRefusal[]): string {
  return grantedTags === undefined ? describeRefusals(refusals) : NO_GRANTED_PLACE;
}

/** Did every place refuse a replica? One for which none was tried yet, which is so for a moment after each loss, is no news. */
export function isRefused(condition: Pick<Condition, 'status' | 'message'> | undefined): boolean {
  return condition?.status === 'False' && !condition.message.endsWith(NOT_TRIED);
}

type Unstamped = Omit<Condition<'Scheduled'>, 'lastTransitionAt'>;

/**
 * The condition with the tried answer on a line of its own ahead of the details: the reason, and the smallest cure. A view with room
 * for one line shows the first.
 */
export function withSentence(condition: Unstamped, explanation: StoredExplanation | undefined): Unstamped {
  if (explanation === undefined) return condition;
  const [head, details] = partsOf(condition.message);
  const sentence = explanation.sentence.slice(0, SENTENCE_LENGTH_MAX);
  return { ...condition, message: `${head}${sentence}\n${details}` };
}

/** Does a condition that is stored say the same, whatever sentence was put into it? */
export function saysTheSame(
  stored: Pick<Condition, 'status' | 'reason' | 'message'> | undefined,
  condition: Unstamped,
): boolean {
  if (stored?.status !== condition.status || stored.reason !== condition.reason) return false;
  if (condition.message === '' || stored.message === '') return stored.message === condition.message;
  const [head, details] = partsOf(condition.message);
  return stored.message.startsWith(head) && stored.message.endsWith(details);
}

function partsOf(message: string): [head: string, details: string] {
  const at = message.indexOf(COLON) + COLON.length;
  return [message.slice(0, at), message.slice(at)];
}
