import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { expect, test } from '@jest/globals';
import { NOON, testId } from './builders.js';
import { DISK, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));

export function labelContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const ports = () => ({
    store: fixture.store,
    clock: { now: () => NOON },
    random: { id: () => testId(901), secret: () => 'secret' },
  });
  const CHANGE = { tier: 'gold', 'example.com/app': '', team: 'b' };

  test('labels of a volume are kept from its creation on, and change by their keys', async () => {
    await fixture.volume({ id: VOLUME, labels: { team: 'a' } });
    const labels = async () => (await fixture.store.loadVolume(VOLUME))?.volume.labels;
    expect(await labels()).toEqual({ team: 'a' });
    await patchVolume(ports(), { volumeId: VOLUME, patch: { labels: CHANGE } });
    expect(JSON.stringify(await labels())).toBe('{"example.com/app":"","team":"b","tier":"gold"}');
    const none = { tier: null, 'example.com/app': null, team: null };
    await patchVolume(ports(), { volumeId: VOLUME, patch: { labels: none } });
    expect(await labels()).toBeUndefined();
  });

  test('labels of a node and of a disk are kept, and taken off', async () => {
    const nodeId = await fixture.node();
    const { clusterId } = fixture.tenant;
    const both = async () => {
      const { nodes, disks } = await fixture.store.loadFleet(clusterId);
      return [nodes.find(({ id }) => id === nodeId)?.labels, disks.find(({ id }) => id === DISK)?.labels];
    };
    expect(await both()).toEqual([undefined, undefined]);
    await patchNode(ports(), { clusterId, nodeId, patch: { labels: CHANGE } });
    await patchDisk(ports(), { clusterId, diskId: DISK, patch: { labels: { shelf: '2' } } });
    expect(await both()).toEqual([CHANGE, { shelf: '2' }]);
    await patchNode(ports(), { clusterId, nodeId, patch: { tags: ['ssd'] } });
    expect(await both()).toEqual([CHANGE, { shelf: '2' }]);
    await patchDisk(ports(), { clusterId, diskId: DISK, patch: { labels: { shelf: null } } });
    expect(await both()).toEqual([CHANGE, undefined]);
  });
}
