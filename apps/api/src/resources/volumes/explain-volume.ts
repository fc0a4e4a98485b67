import type { VolumeView } from '@holdfast/control/ports/store.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { newReplica, type Replica } from '@holdfast/core/model/replica.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import { explainVolume as explainInCore } from '@holdfast/core/scheduling/explanation/explain-volume.js';
import type { PlacementExplanation } from '@holdfast/core/scheduling/explanation/explanation.js';
import { curesOf } from '@holdfast/core/scheduling/placement/explain.js';
import { planPlacements } from '@holdfast/core/scheduling/placement/plan-placements.js';
import type { z } from 'zod';
import { conditionView, type DeepReadonly } from '../../http/schemas.js';
import { explanationView } from './explanation.schemas.js';
import type { explanationSchema } from './volume.schemas.js';

type Explanation = DeepReadonly<z.infer<typeof explanationSchema>>;

/**
 * Explains the places of the volume's copies and of one more, by running the scheduler on the present state; adds the explanation stored at
 * the last search without a place. Changes nothing.
 */
export function explainVolume(view: VolumeView, replicaId: Replica['id'], now: Date): Explanation {
  const { volume, replicas } = view;
  const scheduled = conditionOf(volume.conditions, 'Scheduled');
  const explained = explainInCore(view, now);
  return {
    volumeId: volume.id,
    sentence: explained.sentence,
    scheduled: scheduled === undefined ? null : conditionView(scheduled),
    replicas: replicas.map((replica, index) => {
      const explanation = explained.replicas[index];
      return {
        ...whereItIs(replica, view),
        explanation: explanation === undefined ? null : explanationView(explanation),
        recorded: recordedView(replica.explanation),
      };
    }),
    next: explanationView(explained.next),
    recorded: recordedView(volume.explanation),
    nextReplica: nextReplica(view, replicaId, now),
  };
}

/** Only `explainPlacement` writes that column. */
function recordedView(stored: StoredExplanation | undefined): Explanation['recorded'] {
  return stored === undefined ? null : explanationView(stored as PlacementExplanation);
}

/** The short form: every candidate in one list, with the rule that refused it. */
function nextReplica(view: VolumeView, replicaId: Replica['id'], now: Date): Explanation['nextReplica'] {
  const { volume, replicas, fleet } = view;
  const placed = replicas.filter(({ diskId }) => diskId !== undefined);
  const next = replicas.find(({ diskId }) => diskId === undefined) ?? hypothetical(view, replicaId, now);
  const plan = planPlacements(volume, placed, [next], fleet, now);
  const placement = plan.placements[0];
  const refusals = plan.refusals ?? [];
  return {
    fits: placement !== undefined,
    nodeName: fleet.nodes.find(({ id }) => id === placement?.nodeId)?.name ?? null,
    diskName: fleet.disks.find(({ id }) => id === placement?.booking.diskId)?.name ?? null,
    refusals: refusals.map(({ nodeName, diskName, rejection }) => ({
      nodeName,
      diskName: diskName ?? null,
      rule: rejection.rule,
      reason: rejection.reason,
      message: rejection.message,
      cure: rejection.cure,
    })),
    cures: curesOf(refusals),
  };
}

function whereItIs(replica: Replica, { fleet }: VolumeView) {
  const node = fleet.nodes.find(({ id }) => id === replica.nodeId);
  const disk = fleet.disks.find(({ id }) => id === replica.diskId);
  const message =
    node === undefined || disk === undefined
      ? 'no disk could be found for it yet'
      : `on disk ${disk.name} of ${node.name}${node.zone === undefined ? '' : ` in ${node.zone}`}`;
  return {
    replicaId: replica.id,
    nodeName: node?.name ?? null,
    diskName: disk?.name ?? null,
    zone: node?.zone ?? null,
    message,
  };
}

/** A further replica of the volume, as the scheduler's input. */
function hypothetical({ volume }: VolumeView, id: Replica['id'], now: Date): Replica {
  return newReplica({
    id,
    volumeId: volume.id,
    sizeBytes: volume.spec.sizeBytes,
    secret: '',
    createdAt: now,
  });
}
