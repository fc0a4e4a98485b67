/** Actions on a rebuild that has not ended, beside limiting its bandwidth. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { NoBody } from '../../http/schemas.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { type FoundRebuild, readRebuild } from './read-rebuild.js';
import { RebuildDto, RebuildPath } from './rebuild.schemas.js';
import { type RebuildView, rebuildView } from './rebuild.view.js';

const REBUILD: ActionTarget<typeof RebuildPath.schema, FoundRebuild, RebuildView> = {
  plural: 'Rebuilds',
  noun: 'Rebuild',
  address: 'api/v1/clusters/:clusterId/rebuilds/:rebuildId',
  path: RebuildPath,
  access: 'rebuild:write',
  answer: RebuildDto,
  read: readRebuild,
  view: ({ rebuild, outlook }, { now }) => rebuildView(rebuild, outlook, now),
};

/** Refusals of everything that changes a rebuild. */
export const REBUILD_CHANGE = ['rebuild.not_found', 'rebuild.finished', 'volume.not_found'] as const;

const common = { body: NoBody, refuses: REBUILD_CHANGE, takesIfMatch: true, isDone: () => true };

export const REBUILD_ACTIONS = [
  serveAction(REBUILD, {
    ...common,
    name: 'pause',
    summary: 'Pause a rebuild',
    act: ({
      tenant,
      key: { rebuildId },
      ifVersion,
      before: {
        rebuild: { volumeId },
      },
    }) => tuneRebuild(tenant.volumePorts, { volumeId, rebuildId, ifVersion, paused: true }),
  }),
  serveAction(REBUILD, {
    ...common,
    name: 'resume',
    summary: 'Resume a paused rebuild',
    act: ({
      tenant,
      key: { rebuildId },
      ifVersion,
      before: {
        rebuild: { volumeId },
      },
    }) => tuneRebuild(tenant.volumePorts, { volumeId, rebuildId, ifVersion, paused: false }),
  }),
  serveAction(REBUILD, {
    ...common,
    name: 'cancel',
    summary: 'Cancel a rebuild',
    act: ({
      tenant,
      key: { rebuildId },
      ifVersion,
      before: {
        rebuild: { volumeId },
      },
    }) => cancelRebuild(tenant.volumePorts, { volumeId, rebuildId, ifVersion }),
  }),
];
