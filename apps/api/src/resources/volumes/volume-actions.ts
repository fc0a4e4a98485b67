/** Actions on an existing volume, beside changing its spec and deleting it. */

import { acceptCopies } from '@holdfast/control/use-cases/accept-copies.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestExpand } from '@holdfast/control/use-cases/request-expand.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import { cancelVerify } from '@holdfast/control/use-cases/request-verify.js';
import { requestPurge, requestRevert } from '@holdfast/control/use-cases/snapshots.js';
import type { FaultCode } from '@holdfast/core/model/faults.js';
import type { VolumeWithReplicas } from '@holdfast/database/queries/volumes.js';
import { NoBody } from '../../http/schemas.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { choice, detachment, growth, noteOnly, revert, salvage } from '../dry-runs/planned-effects.js';
import { layerOperation, salvageOperation } from '../operations/begun-operations.js';
import { readVolume } from './read-volume.js';
import { AcceptBody, SalvageBody } from './salvage.schemas.js';
import { AttachBody, DetachBody, ExpandBody, RevertBody, VolumeDto, VolumePath } from './volume.schemas.js';
import { type VolumeView, volumeView } from './volume.view.js';

const VOLUME: ActionTarget<typeof VolumePath.schema, VolumeWithReplicas, VolumeView> = {
  plural: 'Volumes',
  noun: 'Volume',
  address: 'api/v1/clusters/:clusterId/volumes/:volumeId',
  path: VolumePath,
  access: 'volume:write',
  answer: VolumeDto,
  read: readVolume,
  view: (found, tenant) => volumeView(found, tenant.actor),
};

/** Refusals of everything that changes the layers of a volume, which its engine does on all copies at once. */
export const LAYER_CHANGE = [
  'volume.not_found',
  'volume.deleting',
  'volume.not_attached',
  'volume.busy',
] as const satisfies readonly FaultCode[];

export const VOLUME_ACTIONS = [
  serveAction(VOLUME, {
    name: 'attach',
    summary: 'Serve a volume on a node',
    body: AttachBody,
    refuses: [
      'volume.not_found',
      'volume.deleting',
      'volume.busy',
      'volume.attached_elsewhere',
      'volume.strict_local',
      'node.not_found',
      'node.not_ready',
      'node.draining',
      'node.cordoned',
    ],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body, ifVersion }) =>
      requestAttach(tenant.volumePorts, { volumeId, nodeId: body.nodeId ?? undefined, ifVersion }),
    isDone: ({ state }) => state === 'attached',
  }),
  serveAction(VOLUME, {
    name: 'detach',
    summary: 'Stop serving a volume',
    body: DetachBody,
    dryRun: detachment,
    refuses: ['volume.not_found', 'volume.busy', 'volume.holder_unreachable'],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body: { force }, ifVersion }) =>
      requestDetach(tenant.volumePorts, { volumeId, force, ifVersion }),
    isDone: ({ state }) => state === 'detached',
  }),
  serveAction(VOLUME, {
    name: 'expand',
    summary: 'Expand an attached volume',
    body: ExpandBody,
    dryRun: growth,
    refuses: [...LAYER_CHANGE, 'volume.expansion_impossible', 'quota.exceeded'],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body, ifVersion }) =>
      requestExpand(tenant.volumePorts, { volumeId, sizeBytes: body.size, ifVersion }),
    operation: layerOperation,
    isDone: ({ size }, body) => size === body.size,
  }),
  serveAction(VOLUME, {
    name: 'revert',
    summary: 'Revert an attached volume to a snapshot; no client may be connected',
    body: RevertBody,
    dryRun: revert,
    refuses: [...LAYER_CHANGE, 'snapshot.not_found', 'snapshot.in_use'],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body: { snapshotId }, ifVersion }) =>
      requestRevert(tenant.volumePorts, { volumeId, snapshotId, ifVersion }),
    operation: layerOperation,
  }),
  serveAction(VOLUME, {
    name: 'salvage',
    summary:
      'Salvage a volume: continue with the named copies although too few answer; data on the others only is lost',
    body: SalvageBody,
    dryRun: salvage,
    refuses: [
      'volume.not_found',
      'volume.deleting',
      'volume.not_faulted',
      'volume.record_higher',
      'volume.copies_missing',
      'replica.not_found',
    ],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body: { replicaIds = [] }, ifVersion }) =>
      requestSalvage(tenant.volumePorts, { volumeId, replicaIds, ifVersion }),
    operation: salvageOperation,
  }),
  serveAction(VOLUME, {
    name: 'acceptCopies',
    at: 'accept-copies',
    summary:
      'Continue with the named copies of a detached volume whose copies differ without a majority; the others are rebuilt',
    body: AcceptBody,
    dryRun: choice,
    refuses: [
      'volume.not_found',
      'volume.deleting',
      'volume.not_faulted',
      'volume.attached',
      'volume.not_verified',
      'replica.not_found',
      'replica.not_full',
    ],
    takesIfMatch: true,
    act: ({ tenant, key: { volumeId }, body: { replicaIds }, ifVersion }) =>
      acceptCopies(tenant.volumePorts, { volumeId, replicaIds, ifVersion }),
  }),
  serveAction(VOLUME, {
    name: 'cancelVerify',
    at: 'cancel-verify',
    summary: 'Cancel the running comparison of copies',
    body: NoBody,
    refuses: ['volume.not_found'],
    act: ({ tenant, key: { volumeId } }) => cancelVerify(tenant.volumePorts, { volumeId }),
    isDone: ({ verification }) => verification?.state !== 'running',
  }),
  serveAction(
    { ...VOLUME, plural: 'Snapshots' },
    {
      name: 'purge',
      at: 'snapshots/purge',
      mutation: 'purgeSnapshots',
      summary: 'Remove deleted snapshots and the system snapshots of rebuilds',
      body: NoBody,
      dryRun: noteOnly('deleted snapshots can not be brought back'),
      refuses: [...LAYER_CHANGE],
      takesIfMatch: true,
      act: ({ tenant, key: { volumeId }, ifVersion }) =>
        requestPurge(tenant.volumePorts, { volumeId, ifVersion }),
      operation: layerOperation,
    },
  ),
];
