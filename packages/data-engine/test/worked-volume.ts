/** A volume, and what each command has its engine do that goes on after the answer. */
import crypto from 'node:crypto';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { expect } from '@jest/globals';
import type { Engine } from '../src/engine/engine.js';
import { type Cluster, type Copy, expectBytes, MIB, modes, OPTIONS, until, write } from './engine-cluster.js';
import type { ErrorCode, RefusingDisks } from './refusing-disks.js';

/** Two current copies and an empty one, a snapshot with writes before and since; and another volume with a snapshot of the same id. */
export class WorkedVolume {
  readonly snapshotId = crypto.randomUUID();
  readonly data = crypto.randomBytes(MIB);

  private constructor(
    readonly volume: Cluster,
    readonly engine: Engine,
    readonly spare: Copy,
    readonly origin: Cluster,
  ) {}

  static async make(cluster: (count: number) => Promise<Cluster>): Promise<WorkedVolume> {
    const origin = await cluster(1);
    const volume = await cluster(2);
    const replicas = volume.copies.map(({ address }) => address);
    const spare = await volume.addCopy(`spare-${crypto.randomUUID()}`);
    const world = new WorkedVolume(volume, await volume.start(1, { replicas }), spare, origin);
    await world.writeOrigin();
    await write(world.engine, 8 * MIB, world.data);
    await world.takeSnapshot(world.engine);
    await write(world.engine, 10 * MIB, world.data);
    await world.engine.device.flush();
    return world;
  }

  /** Checksums of the copies that the engine had in use at its end. */
  async checksums(): Promise<Set<string>> {
    const inUse = modes(this.engine);
    this.volume.copies.splice(
      0,
      this.volume.copies.length,
      ...this.volume.copies.filter((_, at) => inUse[at] === 'RW'),
    );
    return this.volume.checksums();
  }

  private async writeOrigin(): Promise<void> {
    const engine = await this.origin.start(1);
    await write(engine, 0, this.data);
    await this.takeSnapshot(engine);
    await engine.stop();
  }

  private takeSnapshot({ snapshots }: Engine): Promise<void> {
    const createdAt = '2026-01-01T00:00:00Z';
    return snapshots.take({ id: this.snapshotId, name: 'base', origin: 'user', createdAt });
  }
}

/** Resolves when the work has ended: with whether all of it is done. */
type Work = (world: WorkedVolume) => Promise<boolean>;

export const WORK = {
  'start-rebuild': async ({ engine, spare }) => {
    const rebuildId = crypto.randomUUID();
    engine.startRebuild({ rebuildId, target: spare.address, sourceReplicaIds: [], options: OPTIONS });
    await until(engine, () => engine.report().rebuilds.at(-1)?.state !== 'running');
    return engine.report().rebuilds.at(-1)?.state === 'succeeded';
  },
  fill: async ({ engine, origin, snapshotId, data }) => {
    const sources = origin.copies.map(({ address }) => address);
    engine.startFill({ fillId: crypto.randomUUID(), snapshotId, sources });
    await until(engine, () => engine.report().fill?.state !== 'running');
    if (engine.report().fill?.state !== 'succeeded') return false;
    await expectBytes(engine, 0, data);
    return true;
  },
  'hash-snapshot': async ({ engine, snapshotId }) => {
    await engine.snapshots.hash(snapshotId, true).catch(() => undefined);
    const layer = (await engine.snapshots.list()).find(({ id }) => id === snapshotId);
    return layer?.checksums.every(({ checksum }) => checksum !== null) === true;
  },
  /** Of a current copy, so that the other one has to store a record without it: it tries until its disk takes the record. */
  'drop-replica': async ({ engine, volume }) => {
    let isDone = false;
    void engine.dropReplica(volume.copy(1).address.replicaId, 'its node drains').then(() => {
      isDone = true;
    });
    await until(engine, () => isDone || engine.report().replicas[0]?.reason !== '');
    return modes(engine)[1] === 'ERR';
  },
} satisfies Partial<Record<EngineCommandName, Work>>;

export type EngineWork = keyof typeof WORK;

/**
 * Does the work while all disks refuse from the given call on, and once more afterwards if it has failed.
 *
 * @returns whether the work made that call
 */
export async function workRefused(
  world: WorkedVolume,
  disks: RefusingDisks,
  name: EngineWork,
  code: ErrorCode,
  from: number,
): Promise<boolean> {
  const { volume, engine, data } = world;
  const roots = volume.copies.map(({ node }) => node.disk);
  disks.refuse(roots, from, code);
  const isDone = await WORK[name](world);
  const isRefused = disks.recover() >= from;
  expect({ from, modes: modes(engine).slice(0, 2) }).toEqual({
    from,
    modes: copiesLeft(name, code, isRefused),
  });
  const again = isDone || !isRefused ? isDone : await WORK[name](world);
  expect({ from, isDone: again }).toEqual({ from, isDone: true });
  await expectBytes(engine, 8 * MIB, data);
  await write(engine, 12 * MIB, data);
  await engine.stop();
  expect({ from, sums: (await world.checksums()).size }).toEqual({ from, sums: 1 });
  return isRefused;
}

/** Modes of the two current copies afterwards. A byte that a disk fails to write costs its copy, as a user's would; the last is kept. */
function copiesLeft(name: EngineWork, code: ErrorCode, isRefused: boolean): string[] {
  if (name === 'drop-replica') return ['RW', 'ERR'];
  return name === 'fill' && code === 'EIO' && isRefused ? ['ERR', 'RW'] : ['RW', 'RW'];
}
