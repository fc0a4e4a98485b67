/** Actions on one snapshot, beside deleting it. */
import { requestHash } from '@holdfast/control/use-cases/snapshots.js';
import type { PlacedSnapshot } from '@holdfast/database/queries/snapshots.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { LAYER_CHANGE } from '../volumes/volume-actions.js';
import { readSnapshot } from './read-snapshot.js';
import { HashBody, SnapshotDto, SnapshotPath } from './snapshot.schemas.js';
import { type SnapshotView, snapshotView } from './snapshot.view.js';

const SNAPSHOT: ActionTarget<typeof SnapshotPath.schema, PlacedSnapshot, SnapshotView> = {
  plural: 'Snapshots',
  noun: 'Snapshot',
  address: 'api/v1/clusters/:clusterId/volumes/:volumeId/snapshots/:snapshotId',
  path: SnapshotPath,
  access: 'volume:write',
  answer: SnapshotDto,
  read: readSnapshot,
  view: snapshotView,
};

export const SNAPSHOT_ACTIONS = [
  serveAction(SNAPSHOT, {
    name: 'hash',
    summary: 'Hash a snapshot on every copy; a damaged copy is rebuilt',
    body: HashBody,
    refuses: [...LAYER_CHANGE, 'snapshot.not_found', 'snapshot.in_use'],
    act: ({ tenant, key, body: { force } }) =>
      requestHash(tenant.volumePorts, { ...key, force: force === true }),
  }),
];
