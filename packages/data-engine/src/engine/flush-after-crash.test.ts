import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type Cluster, MIB, useClusters, write } from '../../test/engine-cluster.js';
import { contiguous } from '../nbd/export.js';
import type { ConnectControl } from '../protocol/commands.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();

/** An engine whose resync is held until `go` is called. */
async function startHeld(volume: Cluster): Promise<{ engine: Engine; go: () => void }> {
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const connectControl: ConnectControl = (address) => {
    const { command } = nodes().connectControl(address);
    return {
      command: async (name, ask) => {
        if (name === 'intent') await held;
        return command(name, ask);
      },
    };
  };
  return { engine: await volume.start(2, { connectControl }), go };
}

async function isFlushed(flushed: Promise<void>): Promise<boolean> {
  return Promise.race([
    flushed.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
  ]);
}

describe('a flush on an engine that takes over', () => {
  test('covers acknowledged writes that only one copy still has', async () => {
    const volume = await cluster(3);
    const first = await volume.start(1);
    const data = crypto.randomBytes(MIB);
    await write(first, 8 * MIB, data);
    volume.fenceAll();
    // Two replica processes die with what no flush had covered.
    for (const index of [1, 2]) {
      const { node, address } = volume.copy(index);
      await node.crash(nodes(), address.replicaId);
    }

    const { engine, go } = await startHeld(volume);
    expect(contiguous(await engine.device.read(8 * MIB, MIB)).equals(data)).toBe(true);
    const flushed = engine.device.flush();
    expect(await isFlushed(flushed)).toBe(false);
    go();
    await flushed;
    volume.copy(0).node.die();
    expect(contiguous(await engine.device.read(8 * MIB, MIB)).equals(data)).toBe(true);
  });

  test('does not wait when every copy has them', async () => {
    const volume = await cluster(3);
    await write(await volume.start(1), 8 * MIB, crypto.randomBytes(MIB));
    volume.fenceAll();
    const { engine, go } = await startHeld(volume);
    expect(await isFlushed(engine.device.flush())).toBe(true);
    go();
  });

  test('ends with the engine, when that is stopped during resync', async () => {
    const volume = await cluster(2);
    await write(await volume.start(1), 0, crypto.randomBytes(MIB));
    volume.fenceAll();
    const { node, address } = volume.copy(1);
    await node.crash(nodes(), address.replicaId);
    const { engine, go } = await startHeld(volume);
    const flushed = engine.device.flush();
    const stopped = engine.stop();
    go();
    await expect(flushed).rejects.toThrow();
    await stopped;
  });
});
