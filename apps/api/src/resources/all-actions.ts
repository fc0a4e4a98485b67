import type { ServedAction } from './actions/serve-action.js';
import { NODE_ACTIONS } from './nodes/node-actions.js';
import { OPERATION_ACTIONS } from './operations/operation-actions.js';
import { REBUILD_ACTIONS } from './rebuilds/rebuild-actions.js';
import { SNAPSHOT_ACTIONS } from './snapshots/snapshot-actions.js';
import { REPLICA_ACTIONS } from './volumes/replica-actions.js';
import { VOLUME_ACTIONS } from './volumes/volume-actions.js';

/** Every action on an object: the application serves their routes, the GraphQL schema their mutations. */
export const ALL_ACTIONS: readonly ServedAction[] = [
  ...VOLUME_ACTIONS,
  ...REPLICA_ACTIONS,
  ...SNAPSHOT_ACTIONS,
  ...REBUILD_ACTIONS,
  ...NODE_ACTIONS,
  ...OPERATION_ACTIONS,
];
