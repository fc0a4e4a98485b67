import type { Store } from '@holdfast/control/ports/store.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';

/** The world's store, in which another process does something right after the first look at the fleet. */
function storeWithRival(world: World, rival: () => Promise<void>): Store {
  let isFirst = true;
  return {
    loadVolume: (volumeId) => world.store.loadVolume(volumeId),
    loadNodeVolumes: (clusterId, nodeId) => world.store.loadNodeVolumes(clusterId, nodeId),
    loadAffectedVolumes: (clusterId, places, limit) =>
      world.store.loadAffectedVolumes(clusterId, places, limit),
    loadRebuildSpeeds: (clusterId, limit) => world.store.loadRebuildSpeeds(clusterId, limit),
    loadAdmissions: (clusterId, options) => world.store.loadAdmissions(clusterId, options),
    loadOrphans: (clusterId, limit) => world.store.loadOrphans(clusterId, limit),
    loadFoundCopies: (clusterId, of) => world.store.loadFoundCopies(clusterId, of),
    loadOrphan: (orphanId) => world.store.loadOrphan(orphanId),
    listDueVolumes: (page) => world.store.listDueVolumes(page),
    recordDue: (volumeId, due) => world.store.recordDue(volumeId, due),
    fanOut: (clusterId, limit) => world.store.fanOut(clusterId, limit),
    listClusters: () => world.store.listClusters(),
    agentOf: (nodeId) => world.store.agentOf(nodeId),
    commit: (guard, changes) => world.store.commit(guard, changes),
    recordHeartbeat: (clusterId, heartbeat, now) => world.store.recordHeartbeat(clusterId, heartbeat, now),
    confirmRecord: (volumeId, record) => world.store.confirmRecord(volumeId, record),
    async loadFleet(clusterId) {
      const fleet = await world.store.loadFleet(clusterId);
      if (isFirst) {
        isFirst = false;
        await rival();
      }
      return fleet;
    },
  };
}

test('a disk that is taken back between the decision and its booking is not used: the create decides anew', async () => {
  const world = new World();
  world.addNode('large', { diskBytes: [200 * GIB] });
  world.addNode('small', { diskBytes: [100 * GIB] });
  await world.run(2);
  const { clusterId, organizationId, projectId } = world;
  const [diskId] = world.node('large').disks.map(({ id }) => id);
  if (diskId === undefined) throw new Error('the node has no disk');

  const store = storeWithRival(world, () =>
    patchDisk(world.useCases, { clusterId, diskId, patch: { allowScheduling: false } }),
  );
  const { volumeId } = await createVolume(
    { ...world.useCases, store },
    { organizationId, projectId, clusterId, name: 'pg-data', sizeBytes: GIB, numberOfReplicas: 1 },
  );
  const replicas = (await world.store.loadVolume(volumeId))?.replicas;
  expect(replicas?.map(({ nodeId }) => nodeId)).toEqual([world.nodeId('small')]);
});
