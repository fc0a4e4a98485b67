import type { Change } from '@holdfast/control/ports/store.js';
import { asId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { expect, test } from '@jest/globals';
import { aRebuild, aReplica, aSettledVolume, NOON, testId } from './builders.js';
import { DISK, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function listContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const settled = (part: Partial<Volume> = {}, further: Change[] = []) =>
    fixture.volume(aSettledVolume(fixture.tenant, part), further);
  const unsettled = () => fixture.store.listUnsettledVolumes({ limit: 10 });

  test('a settled volume is not listed', async () => {
    await settled();
    expect(await unsettled()).toEqual([]);
  });

  test.each<[string, Partial<Volume>]>([
    ['another state', { state: 'creating' }],
    ['missing copies', { robustness: 'degraded' }],
    ['no place', { conditions: [] }],
    ['an unobserved generation', { generation: 2 }],
    ['a deletion', { deletionRequestedAt: NOON }],
    ['a wanted attachment', { attachment: { nodeId: undefined, requestedAt: NOON } }],
    [
      'an attachment nobody wants',
      { state: 'attached', attachedNodeId: asId(testId(301)), engineBootId: testId(401) },
    ],
    [
      'a running verification',
      {
        verification: {
          requestedAt: NOON,
          state: 'running',
          finishedAt: undefined,
          equal: undefined,
          replicas: [],
          message: '',
        },
      },
    ],
  ])('a volume with %s is listed', async (_name, part) => {
    await settled(part);
    expect(await unsettled()).toEqual([VOLUME]);
  });

  test('a volume with an active rebuild or a leaving replica is listed', async () => {
    const { clusterId } = fixture.tenant;
    await settled({}, [{ kind: 'rebuild.create', rebuild: aRebuild({ clusterId, volumeId: VOLUME }) }]);
    const other = asId<VolumeId>(testId(2));
    const leaving = aReplica({ volumeId: other, intent: 'evict' });
    await settled({ id: other, name: 'other' }, [
      { kind: 'replica.create', replica: leaving, booking: undefined },
    ]);
    expect(await unsettled()).toEqual([VOLUME, other]);
  });

  test('an attached volume is listed when its node is not ready or has started again', async () => {
    const nodeId = await fixture.node();
    await settled({
      state: 'attached',
      attachment: { nodeId, requestedAt: NOON },
      attachedNodeId: nodeId,
      engineBootId: testId(401),
    });
    expect(await unsettled()).toEqual([VOLUME]);
    const ready = { type: 'Ready' as const, reason: '', message: '', lastTransitionAt: NOON };
    const setReady = (status: 'True' | 'False') =>
      fixture.store.commit({ kind: 'new' }, [
        { kind: 'node.patch', nodeId, patch: { conditions: [{ ...ready, status }] } },
      ]);
    await setReady('True');
    expect(await unsettled()).toEqual([]);
    await fixture.patch(VOLUME, 1, { engineBootId: testId(402) });
    expect(await unsettled()).toEqual([VOLUME]);
  });

  test('pages follow each other in id order', async () => {
    for (const number of [3, 1, 2]) {
      await fixture.volume({ id: asId(testId(number)), name: `volume-${number}` });
    }
    const first = await fixture.store.listUnsettledVolumes({ limit: 2 });
    expect(first).toEqual([testId(1), testId(2)]);
    const afterId = asId<VolumeId>(testId(2));
    expect(await fixture.store.listUnsettledVolumes({ limit: 2, afterId })).toEqual([testId(3)]);
  });

  test('the volumes of a node are those with a copy or their engine there', async () => {
    const nodeId: NodeId = await fixture.node();
    await settled({}, [
      {
        kind: 'replica.create',
        replica: aReplica({ volumeId: VOLUME, nodeId, diskId: DISK }),
        booking: undefined,
      },
    ]);
    const attached = asId<VolumeId>(testId(2));
    await settled({ id: attached, name: 'attached', attachedNodeId: nodeId });
    await settled({ id: asId(testId(3)), name: 'elsewhere' });
    expect(await fixture.store.listVolumesOfNode(nodeId, { limit: 10 })).toEqual([VOLUME, attached]);
    expect(await fixture.store.listVolumesOfNode(nodeId, { limit: 10, afterId: VOLUME })).toEqual([attached]);
  });

  test('clusters are listed', async () => {
    expect(await fixture.store.listClusters()).toEqual([fixture.tenant.clusterId]);
  });
}
