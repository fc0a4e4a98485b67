/** Everything that keeps the rebuild of a missing copy waiting, from what causes it to the code that is shown, and that it ends. */
import { requestExpand } from '@holdfast/control/use-cases/request-expand.js';
import { requestPurge, requestRevert, requestSnapshot } from '@holdfast/control/use-cases/snapshots.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { RebuildHold } from '@holdfast/core/model/volume.js';
import { NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';

type Stage = { world: World; client: SimClient };
/** Sets what is in the way, and tells how it is taken out of it. */
type Obstacle = (stage: Stage) => Promise<() => Promise<void> | void>;

const hold =
  (rebuildHold: RebuildHold): Obstacle =>
  async ({ world, client }) => {
    const put = async (value: RebuildHold | undefined) => {
      const { volume } = await client.view();
      const change = { kind: 'volume.patch', volumeId: volume.id, patch: { rebuildHold: value } } as const;
      await world.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [change]);
    };
    await put(rebuildHold);
    return () => put(undefined);
  };

const LAYER_TASKS: ReadonlySet<string> = new Set<EngineCommandName>(['expand', 'purge', 'revert']);

/** The engine gets no word of it, as if each call were lost on its way. */
const task =
  (ask: (stage: Stage) => Promise<void>): Obstacle =>
  async (stage) => {
    await requestSnapshot(stage.world.useCases, { volumeId: stage.client.volumeId, name: 'base' });
    await stage.world.run(2);
    const onEffect = (name: string) => (LAYER_TASKS.has(name) ? 'lost-before' : 'none');
    stage.world.faults = { ...NO_FAULTS, onEffect };
    await ask(stage);
    return () => {
      stage.world.faults = NO_FAULTS;
    };
  };

const limit =
  (name: SettingName, open: number): Obstacle =>
  async ({ world }) => {
    world.store.setSetting(world.clusterId, name, 0);
    return () => world.store.setSetting(world.clusterId, name, open);
  };

const KEY = ({ client: { volumeId } }: Stage) => ({ volumeId });

test.each<[string, string, Obstacle]>([
  ['VolumeMigrating', 'migrated', hold('migrating')],
  ['VolumeRestoring', 'restored', hold('restoring')],
  ['VolumeStandby', 'activated first', hold('standby')],
  [
    'VolumeExpanding',
    'expanded',
    task((stage) => requestExpand(stage.world.useCases, { ...KEY(stage), sizeBytes: 2 * GIB })),
  ],
  ['VolumePurging', 'purged', task((stage) => requestPurge(stage.world.useCases, KEY(stage)))],
  [
    'VolumeReverting',
    'reverted',
    task(async (stage) =>
      requestRevert(stage.world.useCases, { ...KEY(stage), snapshotId: await snapshotId(stage) }),
    ),
  ],
  ['TargetNodeLimit', 'per-node-limit is 0', limit('concurrent-replica-rebuild-per-node-limit', 5)],
  ['SourceNodeLimit', 'source-per-node-limit is 0', limit('concurrent-rebuild-source-per-node-limit', 5)],
  ['ClusterLimit', 'per-cluster-limit is 0', limit('concurrent-rebuild-per-cluster-limit', 100)],
])(
  '%s: it waits in the queue with the reason, and runs once that is over',
  async (reason, words, obstruct) => {
    const stage = await aVolumeOfThree();
    const lift = await obstruct(stage);
    await loseAndReturn(stage);
    const { rebuilds } = await stage.client.view();
    expect(rebuilds).toMatchObject([
      { state: 'queued', waitingReason: reason, waitingFor: expect.stringContaining(words) },
    ]);
    await lift();
    await stage.world.run(60);
    expect((await stage.client.view()).rebuilds).toMatchObject([
      { state: 'succeeded', waitingReason: undefined, waitingFor: '' },
    ]);
    expect((await stage.client.view()).volume.robustness).toBe('healthy');
  },
);

test('Paused: one that a person holds back in the queue does not start until it is let go', async () => {
  const stage = await aVolumeOfThree();
  const lift = await limit('concurrent-replica-rebuild-per-node-limit', 5)(stage);
  await loseAndReturn(stage);
  const rebuildId = (await stage.client.view()).rebuilds[0]?.id;
  if (rebuildId === undefined) throw new Error('nothing is in the queue');
  await tuneRebuild(stage.world.useCases, { ...KEY(stage), rebuildId, paused: true });
  await lift();
  await stage.world.run(30);
  expect((await stage.client.view()).rebuilds).toMatchObject([{ state: 'queued', waitingReason: 'Paused' }]);
  await tuneRebuild(stage.world.useCases, { ...KEY(stage), rebuildId, paused: false });
  await stage.world.run(60);
  expect((await stage.client.view()).rebuilds).toMatchObject([{ state: 'succeeded' }]);
});

test('OtherReplicaRebuilding: of two missing copies one is rebuilt, and the volume says that the other follows', async () => {
  const stage = await aVolumeOfThree();
  const { world, client } = stage;
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 3600);
  const waiting = async () => conditionOf((await client.view()).volume.conditions, 'RebuildWaiting');
  for (const name of ['node-2', 'node-3']) world.node(name).kill();
  await world.runUntil(async () => (await client.view()).volume.record?.members.length === 1, 60);
  await client.write();
  await world.run(12);
  expect(await waiting()).toMatchObject({ status: 'True', reason: 'CopyMayReturn' });
  const lift = await limit('concurrent-rebuild-per-cluster-limit', 100)(stage);
  for (const name of ['node-2', 'node-3']) world.startNode(name);
  await world.run(15);
  expect((await client.view()).rebuilds).toHaveLength(1);
  expect(await waiting()).toMatchObject({ status: 'True', reason: 'OtherReplicaRebuilding' });
  await lift();
  await world.run(60);
  expect((await client.view()).volume.robustness).toBe('healthy');
  expect(await waiting()).toMatchObject({ status: 'False', reason: '' });
});

async function snapshotId({ client }: Stage) {
  const { snapshots } = await client.view();
  const base = snapshots.find(({ name }) => name === 'base');
  if (base === undefined) throw new Error('the snapshot is gone');
  return base.id;
}

async function aVolumeOfThree(): Promise<Stage> {
  const world = await aWorld();
  const client = await aVolumeIn(world);
  await attach(world, client, 'node-1');
  world.store.setSetting(world.clusterId, 'auto-cleanup-system-generated-snapshot', false);
  return { world, client };
}

/** A copy goes away and comes back, so that its rebuild is in the queue. */
async function loseAndReturn({ world, client }: Stage): Promise<void> {
  world.node('node-3').kill();
  await client.write();
  await world.run(12);
  world.startNode('node-3');
  await world.run(15);
}
