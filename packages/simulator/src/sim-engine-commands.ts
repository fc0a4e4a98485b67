/** Handlers of the control plane's commands to a simulated engine: the same table as the real engine's. */
import type {
  EngineAnswer,
  EngineCommandName,
  EngineHandlers,
  EngineRequest,
} from '@holdfast/core/model/engine-commands.js';
import type { SimEngine } from './sim-engine.js';

const HANDLERS: EngineHandlers<SimEngine> = {
  'start-rebuild': (engine, ask) => {
    engine.startRebuild(ask);
    return null;
  },
  'tune-rebuild': (engine, { rebuildId, paused }) => {
    engine.tuneRebuild(rebuildId, paused);
    return null;
  },
  'cancel-rebuild': (engine, { rebuildId }) => {
    engine.cancelRebuild(rebuildId);
    return null;
  },
  fill: (engine, ask) => {
    engine.startFill(ask);
    return null;
  },
  'drop-replica': async (engine, { replicaId, reason }) => {
    await engine.drop(replicaId, reason);
    return null;
  },
  'set-replica-timeout': (engine, { replicaTimeoutMs }) => {
    engine.setReplicaTimeout(replicaTimeoutMs);
    return null;
  },
  layers: ({ layers }) => layers.describe(),
  'take-snapshot': ({ layers }, { snapshot }) => {
    layers.take(snapshot);
    return null;
  },
  'remove-snapshot': ({ layers }, { snapshotId }) => {
    layers.remove(snapshotId);
    return null;
  },
  'hash-snapshot': ({ layers }, { snapshotId, force }) => {
    layers.hash(snapshotId, force);
    return null;
  },
  revert: ({ layers }, { snapshotId }) => {
    layers.revert(snapshotId);
    return null;
  },
  expand: ({ layers }, { sizeBytes }) => {
    layers.expand(sizeBytes);
    return null;
  },
  purge: ({ layers }) => {
    layers.purge();
    return null;
  },
};

export async function runSimCommand<Name extends EngineCommandName>(
  engine: SimEngine,
  name: Name,
  ask: EngineRequest<Name>,
): Promise<EngineAnswer<Name>> {
  return HANDLERS[name](engine, ask);
}
