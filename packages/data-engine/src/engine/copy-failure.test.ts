import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { MIB, modes, until, useClusters, write } from '../../test/engine-cluster.js';
import { contiguous } from '../nbd/export.js';

const { cluster, nodes } = useClusters();

describe('a copy that fails', () => {
  test('in the middle of writes is dropped without an error, and the record leaves it out', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const data = crypto.randomBytes(8 * MIB);
    const writes = Array.from({ length: 64 }, (_, i) =>
      write(engine, i * 128 * 1024, data.subarray(i * 128 * 1024, (i + 1) * 128 * 1024)),
    );
    volume.copy(2).node.die();
    await Promise.all(writes);
    await engine.device.flush();
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    expect(engine.report().record.members).toEqual(volume.record.members.slice(0, 2));
    expect(contiguous(await engine.device.read(0, data.length)).equals(data)).toBe(true);
    expect(volume.confirmed).toEqual([]);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('nothing is acknowledged before the survivors have the new record', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const order: string[] = [];
    const slow = nodes().connectControl;
    for (const link of engine.copies.all) {
      const real = slow(link.address);
      Object.assign(link.control, {
        command: async (name: 'record', ask: never) => {
          if (name === 'record') {
            await held;
            order.push('record');
          }
          return real.command(name, ask);
        },
      });
    }
    volume.copy(1).node.die();
    const written = write(engine, 0, Buffer.alloc(4096, 1)).then(() => order.push('acknowledged'));
    await until(engine, () => modes(engine).includes('ERR'));
    expect(order).toEqual([]);
    release();
    await written;
    expect(order).toEqual(['record', 'record', 'acknowledged']);
  });

  test('below half, I/O waits for the control plane', async () => {
    const volume = await cluster(2);
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const engine = await volume.start(1, {
      confirmRecord: async (next) => {
        volume.confirmed.push(next);
        await asked;
      },
    });
    volume.copy(1).node.die();
    let acknowledged = false;
    const written = write(engine, 0, Buffer.alloc(4096, 1)).then(() => {
      acknowledged = true;
    });
    await until(engine, () => engine.report().state === 'waiting-record');
    expect(acknowledged).toBe(false);
    answer();
    await written;
    expect(volume.confirmed.map(({ members }) => members.length)).toEqual([1]);
    expect(engine.report()).toMatchObject({ state: 'running', record: { dataGeneration: 2 } });
  });

  test('an engine that the control plane calls stale stops', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1, {
      confirmRecord: () =>
        Promise.reject(new StorageFault('engine.stale_epoch', { publicMessage: 'replaced' })),
    });
    volume.copy(1).node.die();
    await expect(write(engine, 0, Buffer.alloc(4096, 1))).rejects.toMatchObject({
      code: 'engine.stale_epoch',
    });
    expect(engine.report().state).toBe('stopped');
  });

  test('a stop ends a start that waits for the control plane', async () => {
    const volume = await cluster(2);
    nodes().beforeCommand = (name, of) => {
      if (name === 'record' && of === volume.record.members[1]) throw new Error('the disk failed');
    };
    let noteAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      noteAsked = resolve;
    });
    const starting = volume.start(1, {
      confirmRecord: () => {
        noteAsked();
        return Promise.reject(new StorageFault('agent.unreachable', { publicMessage: 'down' }));
      },
    });
    await asked;
    await Promise.all([
      volume.engines[0]?.stop(),
      expect(starting).rejects.toMatchObject({ code: 'engine.not_found' }),
    ]);
  });

  test('as the last one with what no flush had covered ends the engine', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    const { node, address } = volume.copy(0);
    await node.crash(nodes(), address.replicaId);
    await expect(write(engine, 0, Buffer.alloc(4096, 1))).rejects.toMatchObject({
      code: 'engine.no_replica',
    });
    await expect(engine.device.read(0, 4096)).rejects.toMatchObject({ code: 'engine.no_replica' });
  });
});
