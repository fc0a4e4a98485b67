/** Actions on one copy of a volume, beside deleting it. */
import { moveReplica } from '@holdfast/control/use-cases/move-replica.js';
import type { VolumeWithReplicas } from '@holdfast/database/queries/volumes.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { replicaMove } from '../dry-runs/planned-effects.js';
import { moveOperation } from '../operations/begun-operations.js';
import { MoveBody, wishOf } from './move.schemas.js';
import { readVolume } from './read-volume.js';
import { ReplicaPath, VolumeDto } from './volume.schemas.js';
import { type VolumeView, volumeView } from './volume.view.js';

/** Answers with the whole volume, since an action on one copy affects the others. */
const REPLICA: ActionTarget<typeof ReplicaPath.schema, VolumeWithReplicas, VolumeView> = {
  plural: 'Replicas',
  noun: 'Replica',
  address: 'api/v1/clusters/:clusterId/volumes/:volumeId/replicas/:replicaId',
  path: ReplicaPath,
  access: 'volume:write',
  answer: VolumeDto,
  read: readVolume,
  view: (found, tenant) => volumeView(found, tenant.actor),
};

export const REPLICA_ACTIONS = [
  serveAction(REPLICA, {
    name: 'move',
    summary: 'Move a copy to another disk: its replacement is built there first',
    body: MoveBody,
    dryRun: replicaMove,
    refuses: [
      'volume.not_found',
      'volume.deleting',
      'volume.busy',
      'volume.strict_local',
      'replica.not_found',
      'replica.not_full',
      'replica.place_taken',
      'replica.no_place',
      'node.not_found',
      'disk.not_found',
    ],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId, replicaId }, body, ifVersion }) =>
      moveReplica(tenant.volumePorts, { ...wishOf(replicaId, body), volumeId, ifVersion }),
    operation: moveOperation,
  }),
];
