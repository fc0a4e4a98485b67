/**
 * Duplicated commands: every command between engine and copies is delivered once more, at any later time, as networks
 * and HTTP clients may do.
 */
import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { expectBytes, MIB, modes, OPTIONS, rebuild, useClusters, write } from '../../test/engine-cluster.js';
import type { Ask, CommandName, ConnectControl } from '../protocol/commands.js';

const { cluster, nodes } = useClusters();

type Sent = { replicaId: string; name: CommandName; again: () => Promise<unknown> };

/** Delivers a sent command again whenever `doubles` says so; the answers are discarded. */
function doubling(
  connect: ConnectControl,
  doubles: (sent: readonly Sent[], name: CommandName) => Sent[],
): { connectControl: ConnectControl; sent: Sent[] } {
  const sent: Sent[] = [];
  const connectControl: ConnectControl = (address) => {
    const control = connect(address);
    return {
      command: async <Name extends CommandName>(name: Name, ask: Ask<Name>) => {
        const answer = await control.command(name, ask);
        sent.push({ replicaId: address.replicaId, name, again: () => control.command(name, ask) });
        for (const late of doubles(sent, name)) await late.again().catch(() => undefined);
        return answer;
      },
    };
  };
  return { connectControl, sent };
}

const snapshotNamed = (name: string) => ({
  id: crypto.randomUUID(),
  name,
  origin: 'user' as const,
  createdAt: new Date().toISOString(),
});

describe('a command that is delivered twice', () => {
  test('a second prepare leaves the copy that is being filled, and the one that serves, as it is', async () => {
    const volume = await cluster(1);
    const { connectControl, sent } = doubling(nodes().connectControl, (all, name) =>
      name === 'progress' ? all.filter((one) => one.name === 'prepare') : [],
    );
    const engine = await volume.start(1, { connectControl });
    const data = crypto.randomBytes(32 * MIB);
    await write(engine, 0, data);
    const { address } = await volume.addCopy('target');
    await rebuild(engine, address, OPTIONS);
    for (const late of sent.filter(({ name }) => name === 'prepare')) {
      await expect(late.again()).rejects.toMatchObject({ code: 'replica.state_changed' });
    }
    expect(modes(engine)).toEqual(['RW', 'RW']);
    await expectBytes(engine, 0, data);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'seed %i: snapshots, a rebuild, reverts and purges end as without',
    async (seed) => {
      let state = seed;
      const draw = (below: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((state / 2 ** 31) * below);
      };
      const volume = await cluster(2);
      const { connectControl } = doubling(nodes().connectControl, (all) =>
        Array.from({ length: draw(3) }, () => all[draw(all.length)]).filter((one) => one !== undefined),
      );
      const engine = await volume.start(1, { connectControl });
      const [base, after] = [snapshotNamed('base'), snapshotNamed('after')];
      const kept = crypto.randomBytes(8 * MIB);
      await write(engine, 0, kept);
      await engine.snapshots.take(base);
      const target = volume.copy(1).address;
      await engine.dropReplica(target.replicaId, 'for the test');
      await write(engine, 4 * MIB, crypto.randomBytes(8 * MIB));
      await rebuild(engine, target);
      await engine.snapshots.take(after);
      await engine.snapshots.revert(base.id);
      const newest = crypto.randomBytes(MIB);
      await write(engine, 2 * MIB, newest);
      await engine.snapshots.remove(after.id);
      await engine.snapshots.purge();
      newest.copy(kept, 2 * MIB);
      expect(modes(engine)).toEqual(['RW', 'RW']);
      await expectBytes(engine, 0, kept);
      await engine.stop();
      expect((await volume.checksums()).size).toBe(1);
    },
  );
});

describe('a revert whose answer was lost', () => {
  test('keeps what was written and frozen since, and is answered as done while a client is connected', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const [base, later] = [snapshotNamed('base'), snapshotNamed('later')];
    const taskId = crypto.randomUUID();
    await write(engine, 0, Buffer.alloc(4096, 1));
    await engine.snapshots.take(base);
    await engine.snapshots.revert(base.id, taskId);
    await write(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.revert(base.id, taskId);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.take(later);
    await engine.snapshots.remove(base.id);
    Object.defineProperty(engine, 'hasClients', { get: () => true });
    await engine.snapshots.revert(base.id, taskId);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
  });

  test('another task reverts again, and a rebuilt copy knows what the others have done', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const base = snapshotNamed('base');
    const first = crypto.randomUUID();
    await write(engine, 0, Buffer.alloc(4096, 1));
    await engine.snapshots.take(base);
    await engine.snapshots.revert(base.id, first);
    await write(engine, 0, Buffer.alloc(4096, 2));
    const { address } = volume.copy(1);
    await engine.dropReplica(address.replicaId, 'for the test');
    await rebuild(engine, address);
    await engine.snapshots.revert(base.id, first);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.revert(base.id, crypto.randomUUID());
    await expectBytes(engine, 0, Buffer.alloc(4096, 1));
  });
});
