/** What each command of the control channel does to a copy. Whoever sent it has been checked already, and its epoch. */
import type { Socket } from 'node:net';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { HashTrail } from '../integrity/layer-checksum.js';
import type { LayerHashing } from '../integrity/layer-hashing.js';
import { blockHashes } from '../sync/block-hashes.js';
import { PullJob } from '../sync/pull-job.js';
import { windowHashes } from '../sync/window-hashes.js';
import { chainFacts } from './chain-facts.js';
import type { Answer, Ask, CommandName, ConnectControl } from './commands.js';
import { REGION_BYTES } from './intent-map.js';
import type { Layer } from './layer.js';
import type { Replica } from './replica.js';
import { snapshotNotFound } from './replica-faults.js';

/** A copy that this process serves, and what goes on with it. */
export type ServedReplica = {
  readonly replica: Replica;
  /** Who is connected to its data, and the epoch at which they speak. */
  readonly sockets: Map<Socket, number>;
  readonly hashing: LayerHashing;
  /** What rebuilds have asked of each layer. */
  readonly trails: Map<string, HashTrail>;
  readonly connectControl: ConnectControl;
  pull: PullJob | undefined;
};

type Commands = {
  [Name in CommandName]: (served: ServedReplica, ask: Ask<Name>) => Promise<Answer<Name>>;
};

export const COMMANDS: Commands = {
  open: (served, ask) => openAt(served, ask),
  record: async ({ replica }, { record }) => {
    await replica.storeRecord(record);
    return null;
  },
  snapshot: async ({ replica }, { layer, sizeBytes }) => {
    await replica.snapshot(layer, sizeBytes);
    return null;
  },
  unfreeze: async ({ replica }, { layerId }) => {
    await replica.unfreeze(layerId);
    return null;
  },
  revert: async ({ replica }, { layerId, headId }) => {
    await replica.revert(layerId, headId);
    return null;
  },
  'mark-removed': async ({ replica }, { layerId }) => {
    await replica.markRemoved(layerId);
    return null;
  },
  purge: async ({ replica }, { layerId, firstWindow }) => ({
    next: await replica.purge(layerId, firstWindow),
  }),
  chain: ({ replica }) => chainFacts(replica),
  stat: async ({ replica }) => ({ writtenBytes: replica.writtenBytes }),
  intent: async ({ replica }) => ({
    regionBytes: REGION_BYTES,
    regions: replica.intentRegions().map(({ first, count }) => [first, count]),
  }),
  settle: async ({ replica }) => {
    await replica.settle();
    return null;
  },
  prepare: async (served, { rebuildId, layers, headParentId, sizeBytes }) => {
    await served.pull?.cancel();
    served.pull = undefined;
    await served.replica.prepare(rebuildId, layers, headParentId, sizeBytes);
    return null;
  },
  pull: async (served, ask) => {
    await startPull(served, ask);
    return null;
  },
  'tune-pull': async ({ pull }, { rebuildId, tuning }) => {
    requirePull(pull, rebuildId).tune(tuning);
    return null;
  },
  progress: async ({ pull }, { rebuildId }) => requirePull(pull, rebuildId).progress(),
  'cancel-pull': async ({ pull }, { rebuildId }) => {
    if (pull?.rebuildId === rebuildId) await pull.cancel();
    return null;
  },
  hashes: async ({ replica, trails }, { layerId, firstWindow, endWindow }) => {
    const layer = requireLayer(replica, layerId);
    if (firstWindow === 0) {
      trails.set(layerId, await HashTrail.begin(layer, replica.ranges.start(layer.sizeBytes)));
    }
    const trail = trails.get(layerId);
    const answer = await windowHashes(layer, firstWindow, endWindow, trail?.sums);
    const checksum = await trail?.note(firstWindow, answer);
    if (checksum !== undefined) await replica.noteChecksum(layerId, checksum, trail?.sums);
    return answer;
  },
  'block-hashes': async ({ replica }, { layerId, blockHash, firstWindow, endWindow }) =>
    blockHashes(requireLayer(replica, layerId), blockHash, firstWindow, endWindow),
  'range-sums': async ({ replica }, { layerId, first, count }) => ({
    sums: (await replica.ranges.read(layerId, first, count))?.toString('base64') ?? null,
  }),
  'hash-layer': async (served, { layerId, force }) => {
    requireLayer(served.replica, layerId);
    return served.hashing.ask(layerId, force);
  },
};

async function startPull(served: ServedReplica, ask: Ask<'pull'>): Promise<void> {
  if (served.replica.metadata.rebuildId !== ask.rebuildId) throw notPrepared();
  if (served.pull?.rebuildId !== ask.rebuildId) {
    await served.pull?.cancel();
    served.pull = new PullJob(served.replica, ask, served.connectControl);
  }
  served.pull.tune(ask.tuning);
  served.pull.start(ask.sources);
}

/** Fences the copy, cuts whoever was connected before, and says what the copy holds. */
async function openAt(served: ServedReplica, { epoch, afresh }: Ask<'open'>): Promise<Answer<'open'>> {
  const { replica, sockets } = served;
  await replica.fence(epoch);
  if (afresh === true) await replica.renewLease();
  for (const [socket, openedAt] of sockets) {
    if (openedAt < epoch || (afresh === true && openedAt === epoch)) socket.destroy();
  }
  const { record } = replica.metadata;
  return {
    record: record === null ? null : { ...record, members: [...record.members] },
    clean: replica.isClean,
    kept: replica.isKept,
    writtenBytes: replica.writtenBytes,
  };
}

function requireLayer(replica: Replica, layerId: string): Layer {
  const layer = replica.layer(layerId);
  if (layer === undefined) throw snapshotNotFound();
  return layer;
}

function requirePull(pull: PullJob | undefined, rebuildId: string): PullJob {
  if (pull?.rebuildId !== rebuildId) throw notPrepared();
  return pull;
}

function notPrepared(): StorageFault {
  return new StorageFault('rebuild.not_found', {
    publicMessage: 'the copy is not prepared for this rebuild',
  });
}
