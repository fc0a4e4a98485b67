/**
 * Copies that are set back to an earlier state: a restored VM snapshot, a cloned disk, a disk that lost what it had
 * flushed.
 */
import fs from 'node:fs/promises';
import { copyRecord, decideCurrentCopies } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { describe, expect, test } from '@jest/globals';
import { type Cluster, expectBytes, rebuild, useClusters, write } from '../../test/engine-cluster.js';
import { replicaDirectory } from '../disk/folder/replica-files.js';
import type { Engine } from './engine.js';

const { cluster } = useClusters();

const id = (replicaId: string) => asId<ReplicaId>(replicaId);

async function keep(volume: Cluster, index: number): Promise<() => Promise<void>> {
  const { node, address } = volume.copy(index);
  const directory = replicaDirectory(node.disk, address.replicaId);
  const kept = `${directory}-kept`;
  await fs.cp(directory, kept, { recursive: true });
  return async () => {
    await node.service.close(address.replicaId);
    await fs.rm(directory, { recursive: true });
    await fs.cp(kept, directory, { recursive: true });
    await node.open(address.replicaId);
  };
}

/** Attach decision after all copies were surveyed, with what Postgres knows of the engine's last report. */
async function survey(volume: Cluster, epoch: number, reported?: ReturnType<Engine['report']>['record']) {
  const found = await Promise.all(
    volume.copies.map(async ({ node, address: { replicaId } }) => {
      const { record } = await node.service.command(replicaId, 'open', { epoch });
      if (record === null) throw new Error('it has no record');
      const stored = copyRecord(record.epoch, record.dataGeneration, record.members.map(id), record.durable);
      return [id(replicaId), stored] as const;
    }),
  );
  const known =
    reported &&
    copyRecord(reported.epoch, reported.dataGeneration, reported.members.map(id), reported.durable);
  return decideCurrentCopies({ known, found: new Map(found) });
}

async function start(volume: Cluster, epoch: number, last?: Engine): Promise<Engine> {
  return volume.start(epoch, last === undefined ? {} : { record: last.report().record });
}

const crash = (engine: Engine) =>
  engine.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));

describe('a copy that is set back', () => {
  test('to before an attachment that ended cleanly is left out and rebuilt', async () => {
    const volume = await cluster(2);
    const first = await start(volume, 1);
    await write(first, 0, Buffer.alloc(4096, 1));
    await first.stop();
    const setBack = await keep(volume, 1);
    const second = await start(volume, 2, first);
    await write(second, 0, Buffer.alloc(4096, 2));
    await second.stop();
    await setBack();

    const [kept, lost] = volume.copies.map(({ address }) => address.replicaId);
    const decision = await survey(volume, 3);
    expect(decision).toMatchObject({ kind: 'go', current: [kept], setBack: [lost] });
    const replicas = [volume.copy(0).address];
    const third = await volume.start(3, { replicas, record: second.report().record });
    await rebuild(third, volume.copy(1).address);
    await expectBytes(third, 0, Buffer.alloc(4096, 2));
    await third.stop();
    expect((await volume.checksums()).size).toBe(1);
    expect(await survey(volume, 4)).toMatchObject({ kind: 'go', current: [kept, lost] });
  });

  test('to a moment within that attachment is left out too', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    await engine.device.flush();
    for (const { node, address } of volume.copies)
      await (await node.replica(address.replicaId)).clearIntent();
    const setBack = await keep(volume, 1);
    await write(engine, 0, Buffer.alloc(4096, 2));
    await engine.stop();
    await setBack();
    expect(await survey(volume, 2)).toMatchObject({
      kind: 'go',
      setBack: [volume.copy(1).address.replicaId],
    });

    // Its record has the last epoch in which it took part, yet it lacks what was written then.
    const replicas = [volume.copy(0).address];
    const next = await volume.start(2, { replicas, record: engine.report().record });
    await next.drops.marked();
    await rebuild(next, volume.copy(1).address);
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('to before an attachment that ended in a crash is left out by what Postgres was told', async () => {
    const volume = await cluster(2);
    const first = await start(volume, 1);
    await first.stop();
    const setBack = await keep(volume, 1);
    const second = await start(volume, 2, first);
    await write(second, 0, Buffer.alloc(4096, 2));
    await second.device.flush();
    const { record } = second.report();
    crash(second);
    await setBack();
    expect(await survey(volume, 3, record)).toMatchObject({ setBack: [volume.copy(1).address.replicaId] });
  });

  test('nothing is left out after crashes, drops and rebuilds of copies that kept what they had', async () => {
    const volume = await cluster(2);
    let last: Engine | undefined;
    for (let epoch = 1; epoch <= 4; epoch += 1) {
      const engine = await start(volume, epoch, last);
      await write(engine, 0, Buffer.alloc(4096, epoch));
      if (epoch === 2) {
        await engine.dropReplica(volume.copy(1).address.replicaId, 'for the test');
        await rebuild(engine, volume.copy(1).address);
      }
      const { record } = engine.report();
      if (epoch % 2 === 0) crash(engine);
      else await engine.stop();
      const decision = await survey(volume, epoch, record);
      expect(decision).toMatchObject({ kind: 'go', stale: [] });
      last = engine;
    }
  });
});
