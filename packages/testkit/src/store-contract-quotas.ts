/** Promises of a store about quotas: usage is taken and returned in the commit of the change, and never passes a limit. */

import type { QuotaLimits } from '@holdfast/access/quota.js';
import type { Change } from '@holdfast/control/ports/store.js';
import { asId, type RebuildId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import { newLayerTask } from '@holdfast/core/model/layer-task.js';
import { wantedSnapshot } from '@holdfast/core/policy/decide-snapshot.js';
import { describe, expect, test } from '@jest/globals';
import { aRebuild, aVolume, NOON, testId } from './builders.js';
import { outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const GIB = 2 ** 30;
const OVER = 'quota.exceeded';

export function quotaContract(makeStore: MakeStore): void {
  const steps = stepsOf(new StoreFixture(makeStore));
  limitsOf(steps);
  changesWithin(steps);
  describe('running rebuilds', () => rebuildsOf(steps));
}

/** Operations of the tests below on a store. */
function stepsOf(fixture: StoreFixture) {
  let made = 0;

  const limit = (of: 'organization' | 'project', limits: QuotaLimits) => fixture.under.setQuota(of, limits);
  /** Each of one GiB with two copies, unless it says otherwise. */
  const create = (spec: { sizeBytes?: number; numberOfReplicas?: number } = {}) => {
    made += 1;
    const { spec: usual } = aVolume(fixture.tenant);
    const whole = { ...usual, sizeBytes: GIB, numberOfReplicas: 2, ...spec };
    return fixture.volume({ id: asId(testId(700 + made)), name: `v-${made}`, spec: whole });
  };
  const change = (volumeId: VolumeId, version: number, changes: readonly Change[]) =>
    outcome(fixture.store.commit({ kind: 'volume', volumeId, ifVersion: version }, changes));
  const snapshot = (volumeId: VolumeId, number: number): Change => {
    const wanted = wantedSnapshot(volumeId, { name: `s-${number}`, recurringName: undefined }, NOON);
    return { kind: 'snapshot.create', snapshot: { ...wanted, id: snapshotId(number) } };
  };
  return { fixture, limit, create, change, snapshot };
}

type Steps = ReturnType<typeof stepsOf>;

const snapshotId = (number: number) => asId<SnapshotId>(testId(800 + number));

function limitsOf({ fixture, limit, create, change, snapshot }: Steps): void {
  describe.each(['organization', 'project'] as const)('of the %s', (of) => {
    test('volumes are created up to the limit, and again when one has gone', async () => {
      await limit(of, { volumes: 2 });
      const first = await create();
      await create();
      expect(await outcome(create())).toBe(OVER);
      const { volume } = await fixture.load(first);
      expect(await change(first, volume.version, [{ kind: 'volume.delete', volumeId: first }])).toBe('done');
      expect(await outcome(create())).toBe('done');
    });

    test.each<{ limits: QuotaLimits; fits: object; exceeds: object }>([
      {
        limits: { provisionedBytes: 3 * GIB },
        fits: { sizeBytes: 2 * GIB },
        exceeds: { sizeBytes: 3 * GIB },
      },
      {
        limits: { physicalBytes: 6 * GIB },
        fits: { numberOfReplicas: 4 },
        exceeds: { numberOfReplicas: 5 },
      },
    ])('$limits', async ({ limits, fits, exceeds }) => {
      await limit(of, limits);
      await create();
      expect(await outcome(create(exceeds))).toBe(OVER);
      expect(await outcome(create(fits))).toBe('done');
    });

    test('a commit that passes a limit changes nothing', async () => {
      await limit(of, { snapshots: 1 });
      const volumeId = await create();
      const before = await fixture.load(volumeId);
      const { version } = before.volume;
      expect(await change(volumeId, version, [snapshot(volumeId, 1), snapshot(volumeId, 2)])).toBe(OVER);
      expect(await fixture.load(volumeId)).toEqual(before);
      expect(await change(volumeId, version, [snapshot(volumeId, 1)])).toBe('done');
    });
  });
}

function changesWithin({ fixture, limit, create, change, snapshot }: Steps): void {
  test('a snapshot that goes makes room for another one', async () => {
    await limit('project', { snapshots: 1 });
    const volumeId = await create();
    expect(await change(volumeId, 1, [snapshot(volumeId, 1)])).toBe('done');
    expect(await change(volumeId, 2, [snapshot(volumeId, 2)])).toBe(OVER);
    const gone: Change = { kind: 'snapshot.delete', snapshotId: snapshotId(1) };
    expect(await change(volumeId, 2, [gone])).toBe('done');
    expect(await change(volumeId, 3, [snapshot(volumeId, 2)])).toBe('done');
  });

  test('a volume gives back what its snapshots took', async () => {
    await limit('organization', { snapshots: 1 });
    const first = await create();
    expect(await change(first, 1, [snapshot(first, 1)])).toBe('done');
    expect(await change(first, 2, [{ kind: 'volume.delete', volumeId: first }])).toBe('done');
    const second = await create();
    expect(await change(second, 1, [snapshot(second, 2)])).toBe('done');
  });

  test('growing counts from when it is asked for until it is given up', async () => {
    await limit('project', { provisionedBytes: 3 * GIB });
    const volumeId = await create();
    const grow = (sizeBytes: number): Change => {
      const asked = { kind: 'expand' as const, sizeBytes, fromBytes: GIB };
      const task = newLayerTask(asked, { id: testId(899), requestedAt: NOON });
      return { kind: 'volume.patch', volumeId, patch: { task } };
    };
    expect(await change(volumeId, 1, [grow(4 * GIB)])).toBe(OVER);
    expect(await change(volumeId, 1, [grow(3 * GIB)])).toBe('done');
    expect(await outcome(create())).toBe(OVER);
    const givenUp: Change = { kind: 'volume.patch', volumeId, patch: { task: undefined } };
    expect(await change(volumeId, 2, [givenUp])).toBe('done');
    expect(await outcome(create())).toBe('done');
  });

  test('more copies count, and fewer give back', async () => {
    await limit('organization', { physicalBytes: 5 * GIB });
    const volumeId = await create();
    const { spec } = (await fixture.load(volumeId)).volume;
    const copies = (numberOfReplicas: number): Change => {
      return { kind: 'volume.patch', volumeId, patch: { spec: { ...spec, numberOfReplicas } } };
    };
    expect(await change(volumeId, 1, [copies(6)])).toBe(OVER);
    expect(await change(volumeId, 1, [copies(5)])).toBe('done');
    expect(await outcome(create({ numberOfReplicas: 1 }))).toBe(OVER);
    expect(await change(volumeId, 2, [copies(4)])).toBe('done');
    expect(await outcome(create({ numberOfReplicas: 1 }))).toBe('done');
  });

  test('above a limit that was lowered, what shrinks is allowed and what grows is not', async () => {
    const [first] = [await create(), await create(), await create()];
    await limit('project', { volumes: 1 });
    expect(await outcome(create())).toBe(OVER);
    expect(await change(first, 1, [{ kind: 'volume.delete', volumeId: first }])).toBe('done');
    expect(await outcome(create())).toBe(OVER);
  });
}

/** Rebuilds that wait for admission, each of a volume of its own. */
function rebuildsOf({ fixture, limit, create }: Steps): void {
  const queue = async (number: number): Promise<RebuildId> => {
    const [volumeId, id] = [await create(), asId<RebuildId>(testId(850 + number))];
    const { clusterId } = fixture.tenant;
    const rebuild = aRebuild({ id, clusterId, volumeId, targetReplicaId: asId(testId(870 + number)) });
    const created: Change = { kind: 'rebuild.create', rebuild };
    await fixture.store.commit({ kind: 'volume', volumeId, ifVersion: 1 }, [created]);
    return id;
  };
  const view = () => fixture.store.loadAdmissions(fixture.tenant.clusterId, { now: NOON, limit: 10 });
  const start = async (rebuildId: RebuildId) => {
    const { version } = await view();
    const guard = { kind: 'admission', clusterId: fixture.tenant.clusterId, ifVersion: version } as const;
    const patch = { state: 'running' as const };
    return outcome(fixture.store.commit(guard, [{ kind: 'rebuild.patch', rebuildId, patch }]));
  };

  test.each(['organization', 'project'] as const)('admission sees the quota of the %s', async (of) => {
    await queue(1);
    expect((await view()).quotas).toEqual([]);
    await limit(of, { runningRebuilds: 1 });
    const volumeIds = (await view()).queued.map(({ volumeId }) => volumeId);
    const id = of === 'organization' ? fixture.tenant.organizationId : fixture.tenant.projectId;
    expect((await view()).quotas).toEqual([{ id, scope: of, most: 1, elsewhere: 0, volumeIds }]);
  });

  test('of two admissions that both take the last place, the second is decided again', async () => {
    await limit('organization', { runningRebuilds: 1 });
    const [first, second] = [await queue(1), await queue(2)];
    expect(await start(first)).toBe('done');
    expect(await start(second)).toBe('store.conflict');
    expect((await view()).queued.map(({ id }) => id)).toEqual([second]);
  });
}
