import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { MIB, until, useClusters, write } from '../../test/engine-cluster.js';
import { contiguous } from '../nbd/export.js';

const { cluster, nodes } = useClusters();

describe('fencing', () => {
  test('an engine at a higher epoch stops the older one and keeps its bytes', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(4096, 7));
    await old.device.flush();
    const next = await volume.start(2, { record: old.report().record });
    await expect(write(old, 0, Buffer.alloc(4096, 9))).rejects.toThrow();
    expect(old.report().state).toBe('stopped');
    expect(contiguous(await next.device.read(0, 4096)).equals(Buffer.alloc(4096, 7))).toBe(true);
    await expect(volume.start(1)).rejects.toMatchObject({ code: 'engine.stale_epoch' });
  });

  test('an engine that a copy was fenced from leaves that copy out of no record, and stops', async () => {
    const volume = await cluster(3);
    const [first, fenced, hung] = volume.copies.map(({ address }) => address);
    const old = await volume.start(1, {
      // From the first record on, the third copy stores none: its node stands still.
      connectControl: (address) => {
        const { command } = nodes().connectControl(address);
        let isHung = false;
        return {
          command: (name, ask) => {
            if (name !== 'record' || address !== hung) return command(name, ask);
            if (isHung) return new Promise(() => undefined);
            isHung = true;
            return command(name, ask);
          },
        };
      },
    });
    await write(old, 0, Buffer.alloc(4096, 7));
    const fence = async (address: typeof first) => {
      if (address === undefined) throw new Error('no copy');
      return await nodes().connectControl(address).command('open', { epoch: 2, afresh: true });
    };
    await fence(fenced);
    await until(old, () => old.report().state === 'stopped');
    expect(old.report().reason).toContain('engine.stale_epoch');
    expect((await fence(first)).record?.members).toContain(fenced?.replicaId);
  });

  test('a copy whose process died too is not the source of the resync', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(8192, 7));
    const { record } = old.report();
    old.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    for (const { node, address } of volume.copies.slice(0, 2)) await node.crash(nodes(), address.replicaId);

    const next = await volume.start(2, { record });
    expect(contiguous(await next.device.read(0, 8192)).equals(Buffer.alloc(8192, 7))).toBe(true);
    await next.equal();
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('after an unclean stop reads come from one copy until resync ends', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(MIB, 7));
    // A write that reached only one copy before everything stopped.
    const [first] = old.copies.all;
    await first?.client.write(40 * MIB, [Buffer.alloc(8192, 9)], 8192, { fua: false });
    old.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    expect((await volume.checksums()).size).toBe(2);

    const next = await volume.start(2, { record: old.report().record });
    const before = contiguous(await next.device.read(40 * MIB, 8192));
    await next.equal();
    for (let i = 0; i < 3; i += 1) {
      expect(contiguous(await next.device.read(40 * MIB, 8192)).equals(before)).toBe(true);
    }
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('a source that is lost during resync is followed by one other, not by several', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(MIB, 7));
    for (const [index, { client }] of old.copies.all.entries()) {
      await client.write(40 * MIB, [Buffer.alloc(8192, index + 1)], 8192, { fua: false });
    }
    old.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    const next = await volume.start(2, { record: old.report().record });
    // No resync before the source is gone.
    next.copies.reads.onlyFrom(next.copies.all[0]);
    const [source] = next.copies.all;
    if (source === undefined) throw new Error('no copy');
    next.copies.fail(source, new Error('for the test'));
    const seen = new Set<number | undefined>();
    for (let i = 0; i < 40; i += 1) seen.add(contiguous(await next.device.read(40 * MIB, 8192))[0]);
    expect(seen.size).toBe(1);
  });
});
