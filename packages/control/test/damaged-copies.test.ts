/** What follows when a verification finds copies that differ: the odd one is rebuilt before it is read from, and a tie is asked about. */
import { acceptCopies } from '@holdfast/control/use-cases/accept-copies.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import type { SimCopy } from '@holdfast/simulator/sim-copy.js';
import { attach, aVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aWorld();
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

/** A detached volume that was written, with a copy on each of so many nodes. */
async function aDetachedVolume(numberOfReplicas: number): Promise<void> {
  client = await aVolumeIn(world, { numberOfReplicas });
  await world.run(1);
  await attach(world, client, 'node-1');
  await client.write();
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(3);
}

const volume = async () => (await client.view()).volume;
const copies = () => world.nodes.flatMap((node) => [...node.copies.values()]);
/** A number that no client writes, so that its contents differ from those of every other copy. */
const damage = (copy: SimCopy | undefined, number = -1) => copy?.writes.add(number);
const verify = async () => {
  await requestVerify(world.useCases, { volumeId: client.volumeId });
  await world.run(4);
};
const accept = (...replicaIds: ReplicaId[]) =>
  codeOf(acceptCopies(world.useCases, { volumeId: client.volumeId, replicaIds }));
const told = (type: string) => world.store.events.filter((event) => event.type === type).length;
const isAsked = async () => conditionOf((await volume()).conditions, 'CopiesDiffer')?.status;

describe('an odd copy of three', () => {
  test('is failed at once, and rebuilt by the next attach without being read from', async () => {
    await aDetachedVolume(3);
    const [odd] = copies();
    damage(odd);
    await verify();
    const { robustness, verification, record } = await volume();
    expect([robustness, verification?.verdict]).toEqual(['degraded', 'damaged']);
    expect(record?.members).not.toContain(odd?.replicaId);
    expect([told('ReplicaFailed'), told('CopiesDiffer'), await isAsked()]).toEqual([1, 0, undefined]);
    await attach(world, client);
    const isHealthy = async () => (await volume()).robustness === 'healthy';
    expect(await world.runUntil(isHealthy, 600)).toBe(true);
    expect(copies().some(({ writes }) => writes.has(-1))).toBe(false);
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    await world.run(3);
    await verify();
    expect((await volume()).verification).toMatchObject({ equal: true, verdict: 'equal' });
  });

  test.each<EffectFault>(['die-before', 'die-after', 'lost-before', 'lost-after'])(
    'is failed once with %s now and then, and two workers',
    async (fault) => {
      await aDetachedVolume(3);
      damage(copies()[0]);
      let count = 0;
      const onEffect = (): EffectFault => {
        count += 1;
        return count % 4 === 2 ? fault : 'none';
      };
      world.faults = { ...NO_FAULTS, runsTwice: () => true, onEffect };
      await verify();
      await world.run(20);
      world.faults = NO_FAULTS;
      await world.run(5);
      expect((await volume()).verification?.verdict).toBe('damaged');
      expect(told('ReplicaFailed')).toBe(1);
    },
  );

  test('is not judged by sums of before and after an attachment', async () => {
    await aDetachedVolume(3);
    damage(copies()[0]);
    const { agents } = world.reconcilers;
    world.reconcilers = {
      ...world.reconcilers,
      agents: Object.assign(Object.create(agents), { checksumReplica: async () => undefined }),
    };
    await verify();
    await world.store.commit(
      { kind: 'volume', volumeId: client.volumeId, ifVersion: (await volume()).version },
      [{ kind: 'volume.patch', volumeId: client.volumeId, patch: { epoch: (await volume()).epoch + 1 } }],
    );
    world.reconcilers = { ...world.reconcilers, agents };
    await world.run(4);
    expect((await volume()).verification).toMatchObject({ state: 'failed', equal: undefined });
    expect(told('ReplicaFailed')).toBe(0);
  });
});

describe('two copies that differ', () => {
  beforeEach(async () => {
    await aDetachedVolume(2);
    damage(copies()[1]);
    await verify();
  });

  test('fail neither, and ask a person once', async () => {
    const { robustness, verification, conditions } = await volume();
    expect([robustness, verification?.verdict]).toEqual(['healthy', 'tie']);
    const { message } = conditionOf(conditions, 'CopiesDiffer') ?? {};
    for (const { checksum } of verification?.replicas ?? []) expect(message).toContain(checksum);
    await verify();
    expect([told('ReplicaFailed'), told('CopiesDiffer'), await isAsked()]).toEqual([0, 1, 'True']);
  });

  test('go on with the one that a person names, and the other is rebuilt before it is read from', async () => {
    const [right, wrong] = copies();
    if (right === undefined || wrong === undefined) throw new Error('there are not two copies');
    expect(await accept(right.replicaId, wrong.replicaId)).toBe('replica.not_full');
    expect(await accept()).toBe('replica.not_full');
    expect(await accept(right.replicaId)).toBe('done');
    await world.run(2);
    expect([await isAsked(), told('CopiesAccepted')]).toEqual(['False', 1]);
    expect(await accept(wrong.replicaId)).toBe('volume.not_faulted');
    await attach(world, client);
    const isHealthy = async () => (await volume()).robustness === 'healthy';
    expect(await world.runUntil(isHealthy, 600)).toBe(true);
    expect(copies().some(({ writes }) => writes.has(-1))).toBe(false);
  });

  test('are chosen from only while detached, and as they were last verified', async () => {
    const [right, wrong] = copies();
    if (right === undefined || wrong === undefined) throw new Error('there are not two copies');
    // The watch of the world would find what differs while it is served.
    wrong.writes.delete(-1);
    await attach(world, client);
    expect(await accept(right.replicaId)).toBe('volume.attached');
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    await world.run(3);
    expect(await accept(right.replicaId)).toBe('volume.not_verified');
    await verify();
    expect([await isAsked(), await accept(right.replicaId)]).toEqual(['False', 'volume.not_faulted']);
  });
});
