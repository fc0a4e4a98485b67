/** Delivery of commands between engine and copies once more, at any later time, and a story that ends as it does without. */
import crypto from 'node:crypto';
import { expect } from '@jest/globals';
import type { Ask, CommandName, ConnectControl } from '../src/protocol/commands.js';
import { expectBytes, MIB, modes, rebuild, type useClusters, write } from './engine-cluster.js';

type Sent = { replicaId: string; name: CommandName; again: () => Promise<unknown> };

/** Delivers a sent command again whenever `doubles` says so; the answers are discarded. */
export function doubling(
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

export const snapshotNamed = (name: string) => ({
  id: crypto.randomUUID(),
  name,
  origin: 'user' as const,
  createdAt: new Date().toISOString(),
});

/** Snapshots, a rebuild, reverts and purges, with commands that are doubled by chance. */
export async function endsAsWithoutDoubles(
  clusters: ReturnType<typeof useClusters>,
  seed: number,
): Promise<void> {
  let state = seed;
  const draw = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  const volume = await clusters.cluster(2);
  const { connectControl } = doubling(clusters.nodes().connectControl, (all) =>
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
}
