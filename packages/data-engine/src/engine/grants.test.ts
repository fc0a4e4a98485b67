/** Two grants of one epoch: a database that lost its last commits makes the second one. */
import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { type Cluster, expectBytes, useClusters, write } from '../../test/engine-cluster.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();

const STALE = { code: 'engine.stale_epoch' };
const [FIRST, SECOND] = [crypto.randomUUID(), crypto.randomUUID()];

/** Starts an engine that names its grant when it opens a copy. */
function start(
  volume: Cluster,
  grantId: string,
  over: Parameters<Cluster['start']>[1] = {},
): Promise<Engine> {
  return volume.start(1, { ...over, grantId });
}

describe('two grants of one epoch', () => {
  test('the copies serve the one that opened them first, also after their processes have died', async () => {
    const volume = await cluster(2);
    const first = await start(volume, FIRST);
    await write(first, 0, Buffer.alloc(4096, 1));
    await first.device.flush();
    await expect(start(volume, SECOND)).rejects.toMatchObject(STALE);
    await write(first, 0, Buffer.alloc(4096, 2));
    await first.device.flush();
    first.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    for (const { node, address } of volume.copies) await node.crash(nodes(), address.replicaId);
    await expect(start(volume, SECOND)).rejects.toMatchObject({
      ...STALE,
      details: { context: { newest: 1 } },
    });
    await expectBytes(await start(volume, FIRST), 0, Buffer.alloc(4096, 2));
  });

  test('an engine that names no grant is accepted as before', async () => {
    const volume = await cluster(2);
    const first = await start(volume, FIRST);
    await first.stop();
    await expect(volume.start(1)).resolves.toBeDefined();
  });
});

describe('an engine that finds half of the last members, and not more', () => {
  test('asks the control plane before it serves or writes anything', async () => {
    const volume = await cluster(2);
    const [half] = volume.copies;
    if (half === undefined) throw new Error('no copy');
    let confirm: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const starting = start(volume, FIRST, { replicas: [half.address], confirmRecord: () => asked });
    const [engine] = volume.engines;
    const begun = starting.then(() => 'it serves');
    const isAsking = async () => {
      while (engine?.copies.membership.waiting !== true)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return 'it asks';
    };
    expect(await Promise.race([begun, isAsking()])).toBe('it asks');
    if (engine === undefined) throw new Error('no engine');
    expect(engine.report().state).toBe('waiting-record');
    expect((await half.node.replica(half.address.replicaId)).metadata.record).toEqual(volume.record);
    confirm();
    await starting;
    expect(engine.report()).toMatchObject({
      state: 'running',
      record: { members: [half.address.replicaId] },
    });
  });

  test('of two with half each the control plane lets one go on', async () => {
    const volume = await cluster(2);
    let granted = FIRST;
    const confirmAs = (grantId: string) => async () => {
      if (grantId !== granted)
        throw new StorageFault('engine.stale_epoch', { publicMessage: 'granted anew' });
    };
    const startHalf = (index: number, grantId: string) =>
      start(volume, grantId, {
        replicas: [volume.copy(index).address],
        confirmRecord: confirmAs(grantId),
      });
    granted = SECOND;
    await expect(startHalf(0, FIRST)).rejects.toMatchObject(STALE);
    const second = await startHalf(1, SECOND);
    expect(second.report().state).toBe('running');
    const { node, address } = volume.copy(0);
    expect((await node.replica(address.replicaId)).metadata.record).toEqual(volume.record);
  });

  test('with more than half it does not ask', async () => {
    const volume = await cluster(3);
    const replicas = volume.copies.slice(0, 2).map(({ address }) => address);
    await start(volume, FIRST, { replicas });
    expect(volume.confirmed).toEqual([]);
  });
});
