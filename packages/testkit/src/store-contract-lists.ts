import type { Change } from '@holdfast/control/ports/store.js';
import { START_CALL_MS_MAX } from '@holdfast/core/admission/plan-admissions.js';
import type { RebuildReport } from '@holdfast/core/model/agent-protocol.js';
import { asId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { expect, test } from '@jest/globals';
import {
  A_SPEC,
  aHeartbeat,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aRebuildReport,
  aReplica,
  aSnapshot,
  NOON,
  secondsAfterNoon,
  testId,
} from './builders.js';
import { aGrant, attachedOn } from './lifecycle-builder.js';
import { DISK, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';
import { aFill, aPurge, aTask } from './task-builder.js';

const VOLUME = asId<VolumeId>(testId(1));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function listContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const idle = (part: Partial<Volume> = {}, further: Change[] = []) =>
    fixture.volume(anIdleVolume(fixture.tenant, part), further);

  test('what may be hashed is listed: what waits first, then what was checked longest ago', async () => {
    const nodeId = await fixture.node();
    const { clusterId } = fixture.tenant;
    const later = new Date(NOON.getTime() + 1000);
    const names: Record<string, string> = {};
    const add = (name: string, part: Partial<Volume>, snapshot: Partial<Snapshot>) => {
      const number = Object.keys(names).length + 1;
      const id = asId<VolumeId>(testId(number));
      names[id] = name;
      const own = aSnapshot({ id: asId(testId(600 + number)), volumeId: id, ...snapshot });
      const replica = aReplica({ id: asId(testId(100 + number)), volumeId: id, nodeId, diskId: DISK });
      return idle({ id, name, lifecycle: attachedOn(nodeId), ...part }, [
        { kind: 'snapshot.create', snapshot: own },
        { kind: 'replica.create', replica, booking: undefined },
      ]);
    };
    const spec = (integrity: Volume['spec']['snapshotDataIntegrity']) => ({
      spec: { ...A_SPEC, snapshotDataIntegrity: integrity },
    });
    const waiting = { requestedAt: NOON, force: false, automatic: true, startedEpoch: undefined };
    await add('new', {}, { createdAt: later });
    await add('old', {}, {});
    await add('checked', { integrityCheckedAt: new Date(later.getTime() + 1) }, {});
    await add('asked', spec('enabled'), { createdAt: later, hashRequest: waiting });
    await add('by-person', {}, { createdAt: later, hashRequest: { ...waiting, automatic: false } });
    await add('disabled', spec('disabled'), {});
    await add('detached', { lifecycle: DETACHED }, {});
    await add('degraded', { robustness: 'degraded' }, {});
    await add('no-user-snapshot', {}, { origin: 'system' });
    await add('hashed', { hashing: { admittedAt: NOON, isPass: false } }, {});
    await add('purged', { task: aPurge({ admittedAt: NOON }) }, { state: 'removed' });
    await add(
      'reverted',
      { task: aTask({ kind: 'revert', snapshotId: asId(testId(9)) }) },
      {
        state: 'removed',
      },
    );
    const load = async (now: Date, limit = 10) =>
      (await fixture.store.loadAdmissions(clusterId, { now, limit })).tasks;
    // The cron's time is every midnight; the first is before all of this.
    await fixture.under.setSetting('snapshot-data-integrity-cronjob', '@daily');
    const tomorrow = new Date('2026-01-02T00:00:00.000Z');
    const soon = await load(later);
    // The others were checked, or have their oldest snapshot, since then.
    expect(soon.candidates.map(({ volumeId }) => names[volumeId])).toEqual(['asked']);
    const view = await load(tomorrow);
    expect(view.candidates.map(({ volumeId }) => names[volumeId])).toEqual([
      'asked',
      'old',
      'new',
      'by-person',
      'checked',
    ]);
    expect(view.candidates[1]).toEqual({
      volumeId: testId(2),
      nodeIds: [nodeId],
      dataEngine: 'v1',
      checkedAt: NOON,
      askedAt: undefined,
    });
    expect(view.candidates[0]?.askedAt).toEqual(NOON);
    expect(view.candidates[4]?.checkedAt).toEqual(new Date(later.getTime() + 1));
    expect(view.admitted.map(({ volumeId }) => names[volumeId])).toEqual(['hashed', 'purged']);
    expect((await load(tomorrow, 2)).candidates).toHaveLength(2);
    await fixture.under.setSetting('snapshot-data-integrity', 'disabled');
    const byOwn = await load(tomorrow);
    expect(byOwn.candidates.map(({ volumeId }) => names[volumeId])).toEqual(['asked']);
  });

  test('what may be hashed is listed by what the cluster says of each data engine', async () => {
    const nodeId = await fixture.node();
    const { clusterId } = fixture.tenant;
    const names: Record<string, string> = {};
    const add = (name: string, spec: Partial<Volume['spec']>) => {
      const number = Object.keys(names).length + 1;
      const id = asId<VolumeId>(testId(number));
      names[id] = name;
      const snapshot = aSnapshot({ id: asId(testId(600 + number)), volumeId: id });
      return idle({ id, name, lifecycle: attachedOn(nodeId), spec: { ...A_SPEC, ...spec } }, [
        { kind: 'snapshot.create', snapshot },
      ]);
    };
    await add('v1', { dataEngine: 'v1' });
    await add('v2', { dataEngine: 'v2' });
    await add('v1-in-full', { dataEngine: 'v1', snapshotDataIntegrity: 'enabled' });
    await add('v2-not', { dataEngine: 'v2', snapshotDataIntegrity: 'disabled' });
    const listed = async (integrity: Record<'v1' | 'v2', string>, crons: Record<'v1' | 'v2', string>) => {
      await fixture.under.setSetting('snapshot-data-integrity', JSON.stringify(integrity));
      await fixture.under.setSetting('snapshot-data-integrity-cronjob', JSON.stringify(crons));
      const now = new Date('2026-01-02T00:00:00.000Z');
      const { tasks } = await fixture.store.loadAdmissions(clusterId, { now, limit: 10 });
      return tasks.candidates.map(({ volumeId, dataEngine }) => `${names[volumeId]} of ${dataEngine}`);
    };
    const daily = { v1: '@daily', v2: '@daily' };
    expect(await listed({ v1: 'disabled', v2: 'enabled' }, daily)).toEqual(['v2 of v2', 'v1-in-full of v1']);
    expect(await listed({ v1: 'fast-check', v2: 'disabled' }, daily)).toEqual([
      'v1 of v1',
      'v1-in-full of v1',
    ]);
    const both = { v1: 'enabled', v2: 'enabled' };
    expect(await listed(both, { v1: '0 0 1 6 *', v2: '@daily' })).toEqual(['v2 of v2']);
  });

  test('what waits to be purged or filled is listed: the longest wait, or the oldest failure, first', async () => {
    const nodeId = await fixture.node();
    const silentId = await fixture.node('node-2', asId(testId(502)));
    const ready = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON } as const;
    const { version } = (await fixture.store.loadFleet(fixture.tenant.clusterId)).nodes.find(
      ({ id }) => id === nodeId,
    ) ?? { version: 0 };
    await fixture.store.commit({ kind: 'node', nodeId, ifVersion: version }, [
      { kind: 'node.patch', nodeId, patch: { conditions: [ready] } },
    ]);
    const purge = (seconds: number) => aPurge({ requestedAt: secondsAfterNoon(seconds) });
    const source = asId<VolumeId>(testId(99));
    const snapshot = aSnapshot({ id: asId(testId(98)), volumeId: source });
    // A filling reads the copies of its source: their nodes count as its own.
    const read = aReplica({ id: asId(testId(199)), volumeId: source, nodeId: silentId, diskId: DISK });
    await idle({ id: source, name: 'source' }, [
      { kind: 'snapshot.create', snapshot },
      { kind: 'replica.create', replica: read, booking: undefined },
    ]);
    const fill = aFill({ sourceVolumeId: source, snapshotId: snapshot.id, requestedAt: secondsAfterNoon(2) });
    const names: Record<string, string> = {};
    const add = async (
      name: string,
      part: Partial<Volume>,
      further: (id: VolumeId) => Change[] = () => [],
    ) => {
      const number = Object.keys(names).length + 1;
      const id = asId<VolumeId>(testId(number));
      names[id] = name;
      const replica = aReplica({ id: asId(testId(100 + number)), volumeId: id, nodeId, diskId: DISK });
      const attached = { lifecycle: attachedOn(nodeId) };
      await idle({ id, name, ...attached, ...part }, [
        { kind: 'replica.create', replica, booking: undefined },
        ...further(id),
      ]);
    };
    await add('later', { task: purge(3) });
    await add('first', { task: purge(1) });
    await add('fill', { task: fill });
    await add('fill-that-failed', { task: { ...fill, trouble: { message: '', at: secondsAfterNoon(9) } } });
    await add('admitted', { task: aPurge({ admittedAt: NOON }) });
    await add('reverted', {
      task: aTask({ kind: 'revert', snapshotId: asId(testId(9)) }),
    });
    await add('detached', { task: purge(0), lifecycle: DETACHED });
    await add('on-a-silent-node', { task: purge(0), lifecycle: attachedOn(silentId) });
    await add('deleted', {
      task: purge(0),
      lifecycle: { state: 'deleting', requestedAt: NOON, grant: aGrant(nodeId) },
    });
    const limited = { ...A_SPEC, replicaRebuildingBandwidthLimit: 7 };
    await add('rebuilt', { task: purge(0), spec: limited }, (volumeId) => [
      {
        kind: 'rebuild.create',
        rebuild: aRebuild({ clusterId: fixture.tenant.clusterId, volumeId, state: 'running' }),
      },
    ]);
    const load = async (limit: number) =>
      (await fixture.store.loadAdmissions(fixture.tenant.clusterId, { now: NOON, limit })).tasks;
    const { waiting, admitted } = await load(10);
    const filled = waiting.find(({ volumeId }) => names[volumeId] === 'fill');
    expect(filled?.nodeIds).toEqual([nodeId, silentId].sort());
    expect(waiting.map(({ volumeId }) => names[volumeId])).toEqual([
      'first',
      'fill',
      'later',
      'fill-that-failed',
    ]);
    expect(waiting[0]).toEqual({ volumeId: testId(2), nodeIds: [nodeId], since: secondsAfterNoon(1) });
    expect(admitted.map(({ volumeId }) => names[volumeId])).toEqual(['admitted']);
    expect((await load(2)).waiting).toHaveLength(2);
    const { blocked, rebuilt } = await fixture.store.loadAdmissions(fixture.tenant.clusterId, {
      now: NOON,
      limit: 10,
    });
    expect(rebuilt.map(({ spec }) => spec.replicaRebuildingBandwidthLimit)).toContain(7);
    expect(rebuilt.map(({ volumeId, nodeIds }) => [names[volumeId], nodeIds])).toEqual([
      ['rebuilt', [nodeId]],
    ]);
    expect(blocked.map(({ volumeId }) => names[volumeId])).toEqual(['admitted', 'reverted']);
  });

  test('the source of a volume that is being filled knows of it', async () => {
    const source = asId<VolumeId>(testId(2));
    const snapshotId = asId<SnapshotId>(testId(601));
    await idle({ id: source, name: 'source' }, [
      { kind: 'snapshot.create', snapshot: aSnapshot({ id: snapshotId, volumeId: source }) },
    ]);
    await idle({ task: aFill({ sourceVolumeId: source, snapshotId }) });
    expect((await fixture.load(source)).clones).toEqual([{ volumeId: VOLUME, snapshotId }]);
    expect((await fixture.load(VOLUME)).clones).toEqual([]);
  });

  test('a volume with a layer task blocks its rebuilds', async () => {
    await idle({ task: aPurge({ admittedAt: NOON }) });
    const { blocked } = await fixture.store.loadAdmissions(fixture.tenant.clusterId, {
      now: NOON,
      limit: 10,
    });
    expect(blocked).toEqual([{ volumeId: VOLUME, reason: 'purge' }]);
  });

  test('a volume with a hold blocks its rebuilds, and the hold is told before a task', async () => {
    await idle({ rebuildHold: 'migrating' });
    const blocked = async () =>
      (await fixture.store.loadAdmissions(fixture.tenant.clusterId, { now: NOON, limit: 10 })).blocked;
    expect(await blocked()).toEqual([{ volumeId: VOLUME, reason: 'migrating' }]);
    const { volume } = await fixture.load(VOLUME);
    await fixture.patch(VOLUME, volume.version, { task: aPurge({ admittedAt: NOON }) });
    expect(await blocked()).toEqual([{ volumeId: VOLUME, reason: 'migrating' }]);
    await fixture.patch(VOLUME, volume.version + 1, { rebuildHold: undefined });
    expect(await blocked()).toEqual([{ volumeId: VOLUME, reason: 'purge' }]);
  });

  test.each<{
    name: string;
    part?: Partial<Rebuild>;
    reported?: RebuildReport['state'] | 'unlisted';
    afterMs?: number;
    ending: boolean;
  }>([
    { name: 'that the engine runs', reported: 'running', ending: true },
    { name: 'that the engine still runs long after', reported: 'running', afterMs: 3_600_000, ending: true },
    { name: 'that failed for us only', part: { state: 'failed' }, reported: 'running', ending: true },
    { name: 'that the engine has ended', reported: 'failed', ending: false },
    { name: 'of an engine that has reported nothing', ending: true },
    { name: 'whose start may be on its way', reported: 'unlisted', afterMs: START_CALL_MS_MAX, ending: true },
    { name: 'whose start never came', reported: 'unlisted', afterMs: START_CALL_MS_MAX + 1, ending: false },
    { name: 'of an earlier epoch', part: { epoch: 1 }, reported: 'running', ending: false },
    { name: 'that was never started', part: { epoch: undefined }, ending: false },
    { name: 'that succeeded', part: { state: 'succeeded' }, reported: 'succeeded', ending: false },
  ])('a cancelled rebuild $name: ending is $ending', async ({ part, reported, afterMs = 0, ending }) => {
    const { clusterId } = fixture.tenant;
    const nodeId = await fixture.node();
    const end: Partial<Rebuild> = { state: 'cancelled', finishedAt: NOON, epoch: 2, ...part };
    const rebuild = aRebuild({ clusterId, volumeId: VOLUME, ...end });
    await idle({ lifecycle: attachedOn(nodeId, { bootId: testId(401) }), epoch: 2 }, [
      { kind: 'rebuild.create', rebuild },
    ]);
    if (reported !== undefined) {
      const rebuilds =
        reported === 'unlisted' ? [] : [aRebuildReport({ rebuildId: rebuild.id, state: reported })];
      const engines = [anEngineReport({ volumeId: VOLUME, epoch: 2, rebuilds })];
      const heartbeat = aHeartbeat('node-1', { engines });
      await fixture.store.recordHeartbeat(clusterId, heartbeat, new Date(NOON.getTime() + afterMs));
    }
    const ids = (await fixture.store.loadAdmissions(clusterId, { now: NOON, limit: 10 })).ending.map(
      ({ id }) => id,
    );
    expect(ids).toEqual(ending ? [rebuild.id] : []);
  });

  test('a cancelled rebuild is over when its agent has started again or its volume was let go', async () => {
    const { clusterId } = fixture.tenant;
    const nodeId = await fixture.node();
    const cancelled: Partial<Rebuild> = { state: 'cancelled', finishedAt: NOON, epoch: 2 };
    await idle({ lifecycle: attachedOn(nodeId, { bootId: testId(401) }), epoch: 2 }, [
      { kind: 'rebuild.create', rebuild: aRebuild({ clusterId, volumeId: VOLUME, ...cancelled }) },
    ]);
    const count = async () =>
      (await fixture.store.loadAdmissions(clusterId, { now: NOON, limit: 10 })).ending.length;
    expect(await count()).toBe(1);
    await fixture.patch(VOLUME, 1, { lifecycle: attachedOn(nodeId, { bootId: testId(402) }) });
    expect(await count()).toBe(0);
    await fixture.patch(VOLUME, 2, { lifecycle: DETACHED });
    expect(await count()).toBe(0);
  });

  test('clusters are listed', async () => {
    expect(await fixture.store.listClusters()).toEqual([fixture.tenant.clusterId]);
  });
}
