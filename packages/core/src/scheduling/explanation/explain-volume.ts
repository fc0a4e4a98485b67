/** Explains all of a volume's replicas: why each is where it is, and where the next would go. */

import type { StorageDisk } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { VolumeView } from '../../model/views.js';
import { assertFleetConsistent } from '../placement/fleet-consistency.js';
import { explainPlacement, explainWithoutCures } from './explain-placement.js';
import type { PlacementExplanation } from './explanation.js';
import { namedPlace, placeInWords } from './named-place.js';
import { cycleOf, type PlacementQuestion } from './placement-question.js';

export type VolumeExplanation = {
  /** The whole answer in one plain sentence. */
  readonly sentence: string;
  /** One per replica, in the order of the view. */
  readonly replicas: readonly PlacementExplanation[];
  /** Where one more would go: the first replica without a place, or one that does not exist yet. */
  readonly next: PlacementExplanation;
};

/** @throws StorageFault `fleet.inconsistent` */
export function explainVolume(
  view: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>,
  now: Date,
): VolumeExplanation {
  const { volume, replicas, fleet } = view;
  assertFleetConsistent(fleet, replicas);
  const placed = replicas.filter(({ diskId }) => diskId !== undefined);
  const unplaced = replicas.find(({ diskId }) => diskId === undefined);
  const next = explainPlacement({ volume, replicas: placed, fleet, now }, unplaced?.id);
  const explanations = replicas.map((replica) =>
    // Replicas without a place ask the same question of the same fleet.
    replica.diskId === undefined
      ? { ...next, replicaId: replica.id }
      : explainPlaced({ volume, replicas: placed, fleet, now }, replica),
  );
  return { sentence: sentenceOf(view, placed.length, next), replicas: explanations, next };
}

function sentenceOf(
  { volume, replicas }: Pick<VolumeView, 'volume' | 'replicas'>,
  placed: number,
  next: PlacementExplanation,
): string {
  const wanted = Math.max(volume.spec.numberOfReplicas, replicas.length);
  const failed = replicas.filter(({ failedAt }) => failedAt !== undefined).length;
  if (placed >= wanted) {
    const butFailed = failed === 0 ? '' : `; ${failed} failed`;
    return `All ${wanted} replicas of ${volume.name} have a place${butFailed}.`;
  }
  return `${placed} of ${wanted} replicas of ${volume.name} have a place. ${next.sentence}`;
}

/**
 * Why a replica is where it is: the question is asked anew as if it were not there, and the answer compared with its
 * place. They differ where the fleet has changed since; nothing moves for that alone.
 */
function explainPlaced(question: PlacementQuestion, replica: Replica): PlacementExplanation {
  const { fleet } = question;
  const disk = fleet.disks.find(({ id }) => id === replica.diskId);
  const without: PlacementQuestion = {
    ...question,
    replicas: question.replicas.filter(({ id }) => id !== replica.id),
    fleet: { ...fleet, disks: fleet.disks.map((one) => (one === disk ? released(one, replica) : one)) },
  };
  const explanation = explainWithoutCures(without, replica.id);
  if (disk === undefined) return explanation;

  const place = namedPlace(disk, cycleOf(without).nodesById);
  const here = `The replica is on ${placeInWords(place)}.`;
  const sentence = `${here} ${comparedWith(explanation, disk)}`;
  return { ...explanation, outcome: 'placed', place, sentence };
}

function comparedWith(explanation: PlacementExplanation, disk: StorageDisk): string {
  if (explanation.place?.diskId === disk.id) return 'Asked today, the scheduler chooses the same disk.';
  const refused = explanation.filters
    .flatMap(({ rejections }) => rejections)
    .find(({ nodeId, diskId }) => diskId === disk.id || (diskId === null && nodeId === disk.nodeId));
  const today = refused === undefined ? '' : ` because ${refused.message}`;
  if (explanation.place === null) return `Asked today, it would find no disk${today}; it stays where it is.`;
  return `Asked today, the scheduler would choose ${placeInWords(explanation.place)}${today}; it stays where it is.`;
}

/** The disk as it would be without the replica. */
function released(disk: StorageDisk, { sizeBytes, writtenBytes }: Replica): StorageDisk {
  return {
    ...disk,
    storageScheduledBytes: Math.max(0, disk.storageScheduledBytes - sizeBytes),
    storageAvailableBytes: Math.min(disk.storageMaximumBytes, disk.storageAvailableBytes + writtenBytes),
    writtenBytes: Math.max(0, disk.writtenBytes - writtenBytes),
  };
}
