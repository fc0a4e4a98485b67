/**
 * Explains one placement: what each rule rejected, which tier won, how the best were scored and, when nothing
 * fits, what would make it fit. The decision is the scheduler's own; everything here is words about it.
 */
import type { DiskId, ReplicaId } from '../../model/ids.js';
import { diskTypeOf } from '../filters/disk-type.filter.js';
import type { PlacementCycle } from '../framework/framework.js';
import { decidePlacement } from '../placement/place-replica.js';
import { CURES_TRIED_MAX, type NamedPlace, type PlacementExplanation } from './explanation.js';
import { runFilterPipeline } from './filter-pipeline.js';
import { type CureSearch, findCures } from './find-cures.js';
import { namedPlace } from './named-place.js';
import { cycleOf, type PlacementQuestion } from './placement-question.js';
import { scoreCandidates } from './score-candidates.js';
import { sentenceOfPlaced, sentenceOfUnplaced } from './sentences.js';

const NO_SEARCH: CureSearch = { cures: [], tried: 0, isComplete: true };

/**
 * Where a further replica of the volume would go, and why.
 *
 * @param question the volume with its other replicas, in the fleet as it is
 * @param replicaId of the replica in question, where it exists
 */
export function explainPlacement(question: PlacementQuestion, replicaId?: ReplicaId): PlacementExplanation {
  return explainWith(findCures, question, replicaId);
}

/** `explainPlacement` without the search for cures: where nothing is to be cured, or more cures than a user could read. */
export function explainWithoutCures(
  question: PlacementQuestion,
  replicaId?: ReplicaId,
): PlacementExplanation {
  return explainWith(() => NO_SEARCH, question, replicaId);
}

function explainWith(
  search: (question: PlacementQuestion) => CureSearch,
  question: PlacementQuestion,
  replicaId: ReplicaId | undefined,
): PlacementExplanation {
  const cycle = cycleOf(question);
  const asked = runFilterPipeline(cycle);
  const decision = decidePlacement(cycle);
  const isPlaced = decision.kind === 'placed';
  const diskId = isPlaced ? decision.diskId : undefined;
  const { cures, tried, isComplete } = isPlaced ? NO_SEARCH : search(question);
  const place = placeOf(cycle, diskId);
  const facts = {
    replicaId: replicaId ?? null,
    at: question.now.toISOString(),
    asked: whatWasAsked(cycle),
    place,
    tier: isPlaced ? decision.tier : null,
    filters: asked.filters,
    tiers: asked.tiers,
    alpha: cycle.fleet.settings['balance-alpha'],
    scores: scoreCandidates(cycle, asked.candidates, diskId),
    cures,
    cureSearch: { tried, triedMax: CURES_TRIED_MAX, isComplete },
  };
  if (place === null) return { sentence: sentenceOfUnplaced(facts), outcome: 'unplaced', ...facts };
  const sentence = sentenceOfPlaced(place, facts.tier, asked.candidates.length);
  return { sentence, outcome: 'placed', ...facts };
}

function placeOf(cycle: PlacementCycle, diskId: DiskId | undefined): NamedPlace | null {
  const disk = diskId === undefined ? undefined : cycle.fleet.disks.find(({ id }) => id === diskId);
  return disk === undefined ? null : namedPlace(disk, cycle.nodesById);
}

function whatWasAsked({ request }: PlacementCycle): PlacementExplanation['asked'] {
  const { sizeBytes, writtenBytes, dataEngine, nodeSelector, diskSelector } = request;
  const diskType = diskTypeOf(dataEngine);
  return { sizeBytes, writtenBytes, dataEngine, diskType, nodeSelector, diskSelector };
}
