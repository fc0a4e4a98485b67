import type { VolumeView } from '@holdfast/control/ports/store.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { newReplica, type Replica } from '@holdfast/core/model/replica.js';
import { curesOf } from '@holdfast/core/scheduling/explain.js';
import { planPlacements } from '@holdfast/core/scheduling/plan-placements.js';
import type { z } from 'zod';
import { conditionView } from '../platform/schemas.js';
import type { explanationSchema } from './volume.schemas.js';

type Explanation = z.infer<typeof explanationSchema>;

/** Says where the volume's copies are and asks the scheduler itself where one more would go. Changes nothing. */
export function explainVolume(view: VolumeView, replicaId: Replica['id'], now: Date): Explanation {
  const { volume, replicas, fleet } = view;
  const scheduled = conditionOf(volume.conditions, 'Scheduled');
  const placed = replicas.filter(({ diskId }) => diskId !== undefined);
  const next = replicas.find(({ diskId }) => diskId === undefined) ?? hypothetical(view, replicaId, now);
  const plan = planPlacements(volume, placed, [next], fleet, now);
  const placement = plan.placements[0];
  const refusals = plan.refusals ?? [];
  return {
    volumeId: volume.id,
    scheduled: scheduled === undefined ? null : conditionView(scheduled),
    replicas: replicas.map((replica) => whereItIs(replica, view)),
    nextReplica: {
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
    },
  };
}

function whereItIs(replica: Replica, { fleet }: VolumeView): Explanation['replicas'][number] {
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

/** One more replica than the volume has, as the scheduler would see it. */
function hypothetical({ volume }: VolumeView, id: Replica['id'], now: Date): Replica {
  return newReplica({
    id,
    volumeId: volume.id,
    sizeBytes: volume.spec.sizeBytes,
    secret: '',
    createdAt: now,
  });
}
