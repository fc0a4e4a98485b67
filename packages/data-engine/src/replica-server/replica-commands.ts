/**
 * Handlers of the control channel: what each command does to a copy. Its epoch is checked at the moment of the
 * effect.
 */

import { REGION_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Layer } from '../layers/layer.js';
import { HashTrail } from '../layers/layer-checksum.js';
import type { Ports } from '../nbd/ports.js';
import type { Answer, Ask, CommandName, ConnectControl, HeadReply } from '../protocol/commands.js';
import { snapshotNotFound, stateChanged } from '../protocol/replica-faults.js';
import { encodeStretches } from '../protocol/stretches.js';
import { PullJob } from '../pull/pull-job.js';
import type { Replica } from '../replica/replica.js';
import { chainFacts } from './chain-facts.js';
import { blockHashes, windowHashes } from './hash-answers.js';
import type { LayerHashing } from './layer-hashing.js';
import type { ReadTrails } from './read-trails.js';
import type { SentWindows } from './sent-windows.js';

/** A data connection to a copy. */
export type CopyConnection = {
  /** The epoch that the copy was opened at for it. */
  readonly epoch: number;
  /** Cuts the connection; its pending requests have no effect. */
  readonly destroy: () => void;
  /** Resolves when it has ended, by either side. */
  readonly ended: Promise<void>;
};

/** A copy that this process serves, with its running work. */
export type ServedReplica = {
  readonly replica: Replica;
  readonly diskPath: string;
  readonly connections: Set<CopyConnection>;
  readonly hashing: LayerHashing;
  /** Hashes of each layer that rebuilds have requested so far. */
  readonly trails: ReadTrails;
  readonly sent: SentWindows;
  readonly connectControl: ConnectControl;
  readonly ports: Ports;
  pull: PullJob | undefined;
  /** Number of running preparations: until they end no pull may start. */
  preparing: number;
};

type Commands = {
  [Name in CommandName]: (served: ServedReplica, ask: Ask<Name>) => Promise<Answer<Name>>;
};

export const COMMANDS: Commands = {
  open: (served, ask) => openAt(served, ask),
  record: async ({ replica }, ask) => {
    await replica.storeRecord(ask.record, ask);
    return null;
  },
  snapshot: async ({ replica }, ask) => {
    await replica.layers.snapshot(ask.layer, ask.sizeBytes, ask);
    return headOf(replica);
  },
  unfreeze: async ({ replica }, ask) => {
    await replica.layers.unfreeze(ask.layerId, ask);
    return headOf(replica);
  },
  revert: async ({ replica }, ask) => {
    await replica.layers.revert(ask.layerId, ask.headId, ask);
    return headOf(replica);
  },
  'mark-removed': async ({ replica }, ask) => {
    await replica.layers.markRemoved(ask.layerId, ask);
    return null;
  },
  purge: async ({ replica }, ask) => ({
    next: await replica.layers.purge(ask.layerId, ask.firstWindow, ask),
  }),
  chain: ({ replica }) => chainFacts(replica),
  stat: async ({ replica }) => ({ writtenBytes: await replica.writtenBytes() }),
  intent: async ({ replica }) => ({
    regionBytes: REGION_BYTES,
    regions: replica.intentRegions().map(({ first, count }) => [first, count]),
    marker: replica.intentMarker(),
  }),
  unflushed: async ({ replica }, { from }) => encodeStretches(replica.recentChanges(), from),
  'clear-intent': async ({ replica }, ask) => {
    const regions = ask.regions?.map(([first, count]) => ({ first, count }));
    await replica.clearIntent({ ...ask, regions });
    return null;
  },
  prepare: (served, ask) => prepare(served, ask),
  pull: async (served, ask) => {
    await startPull(served, ask);
    return null;
  },
  'tune-pull': async ({ pull }, { rebuildId, tuning }) => {
    requirePull(pull, rebuildId).tune(tuning);
    return null;
  },
  progress: async ({ pull }, { rebuildId, wait }) => {
    const job = requirePull(pull, rebuildId);
    if (wait !== undefined) await job.leaves(wait);
    return job.progress();
  },
  'cancel-pull': async ({ pull }, { rebuildId, attempt }) => {
    if (pull?.rebuildId === rebuildId && !pull.isLaterThan(attempt)) await pull.cancel();
    return null;
  },
  hashes: async ({ replica, trails, sent }, ask) => {
    const { layerId, firstWindow, endWindow } = ask;
    const layer = requireLayer(replica, layerId);
    if (firstWindow === 0) {
      trails.begin(layerId, await HashTrail.begin(layer, replica.ranges.start(layer.sizeBytes)));
    }
    const trail = trails.at(layerId, firstWindow);
    const known = (window: number) => sent.take(layerId, layer, window);
    const answer = await windowHashes(layer, { firstWindow, endWindow, known, sums: trail?.sums });
    const checksum = await trail?.note(firstWindow, answer);
    if (answer.next === null) trails.end(layerId);
    if (checksum !== undefined) await replica.layers.noteChecksum(layerId, checksum, trail?.sums, ask);
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

/**
 * Cancels running pulls first: nothing may write to files that are about to be removed. A `prepare` that has already
 * run must not get this far: it would cancel the very pull that it prepared.
 */
async function prepare(served: ServedReplica, ask: Ask<'prepare'>): Promise<Answer<'prepare'>> {
  const { replica } = served;
  const { rebuildId, headParentId } = ask;
  if (!replica.layers.isPrepared(rebuildId, headParentId, ask)) {
    served.preparing += 1;
    try {
      await endPull(served);
      await replica.layers.prepare(rebuildId, ask.layers, headParentId, ask.sizeBytes, ask);
    } finally {
      served.preparing -= 1;
    }
  }
  return headOf(replica);
}

async function endPull(served: ServedReplica): Promise<void> {
  const { pull } = served;
  await pull?.cancel();
  if (served.pull === pull) served.pull = undefined;
}

async function startPull(served: ServedReplica, ask: Ask<'pull'>): Promise<void> {
  if (served.pull?.rebuildId !== ask.rebuildId) await endPull(served);
  // No await from here on, so that this check still holds at the effect.
  served.replica.requireTerm(ask);
  if (served.preparing > 0 || served.replica.metadata.rebuildId !== ask.rebuildId) throw notPrepared();
  if (served.pull?.isLaterThan(ask.attempt)) throw stateChanged();
  served.pull ??= new PullJob(served.replica, ask, served.connectControl, served.ports);
  served.pull.tune(ask.tuning);
  served.pull.start(ask.sources, ask.attempt);
}

/** Fences the copy, ends the work of its previous engine, cuts older connections, and describes the copy. */
async function openAt(served: ServedReplica, ask: Ask<'open'>): Promise<Answer<'open'>> {
  const { replica, connections } = served;
  const { epoch } = ask;
  const { lease, replaces } = await replica.fence(epoch, ask);
  if (replaces) {
    for (const connection of connections) if (connection.epoch <= epoch) connection.destroy();
    served.trails.clear();
    await endPull(served);
  }
  const writtenBytes = await replica.writtenBytes();
  const { record } = replica.metadata;
  // Fenced again meanwhile: the description would be for another engine.
  replica.requireTerm({ epoch, lease });
  return {
    record,
    clean: replica.isClean,
    kept: replica.isKept,
    life: replica.intentMarker().life,
    writtenBytes,
    lease,
    headId: replica.headId,
  };
}

function headOf({ headId }: Replica): HeadReply {
  return headId === undefined ? null : { headId };
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
