/** Handlers of the control plane's commands to an engine: what each entry of the table in core does. */
import type {
  EngineAnswer,
  EngineCommandName,
  EngineHandlers,
  EngineRequest,
} from '@holdfast/core/model/engine-commands.js';
import type { Engine } from './engine.js';

const HANDLERS: EngineHandlers<Engine> = {
  'start-rebuild': (engine, ask) => {
    engine.startRebuild(ask);
    return null;
  },
  'tune-rebuild': (engine, { rebuildId, paused, bandwidthBytesPerSecond }) => {
    engine.tuneRebuild(rebuildId, { paused, bandwidthBytesPerSecond });
    return null;
  },
  'cancel-rebuild': async (engine, { rebuildId }) => {
    await engine.cancelRebuild(rebuildId);
    return null;
  },
  fill: (engine, ask) => {
    engine.startFill(ask);
    return null;
  },
  'drop-replica': async (engine, { replicaId, reason }) => {
    await engine.dropReplica(replicaId, reason);
    return null;
  },
  'set-replica-timeout': (engine, { replicaTimeoutMs }) => {
    engine.setReplicaTimeout(replicaTimeoutMs);
    return null;
  },
  layers: ({ snapshots }) => snapshots.describe(),
  'take-snapshot': async ({ snapshots }, { snapshot }) => {
    await snapshots.take(snapshot);
    return null;
  },
  'remove-snapshot': async ({ snapshots }, { snapshotId }) => {
    await snapshots.remove(snapshotId);
    return null;
  },
  'hash-snapshot': ({ snapshots }, { snapshotId, force }) => {
    snapshots.beginHash(snapshotId, force);
    return null;
  },
  revert: async ({ snapshots }, { snapshotId, taskId }) => {
    await snapshots.revert(snapshotId, taskId);
    return null;
  },
  expand: async ({ snapshots }, { sizeBytes }) => {
    await snapshots.expand(sizeBytes);
    return null;
  },
  purge: ({ snapshots }) => {
    snapshots.beginPurge();
    return null;
  },
};

/** Executes a command on an engine. Rejects with the StorageFault that the answer carries. */
export async function runEngineCommand<Name extends EngineCommandName>(
  engine: Engine,
  name: Name,
  ask: EngineRequest<Name>,
): Promise<EngineAnswer<Name>> {
  return HANDLERS[name](engine, ask);
}
