import { asId } from '@holdfast/core/model/ids.js';
import { aVolume, testId } from '@holdfast/testkit/builders.js';
import { type StoreUnderTest, storeContract } from '@holdfast/testkit/store-contract.js';
import { describe, expect, test } from '@jest/globals';
import { SeededRandom } from '../seeded-random.js';
import { MemoryStore } from './memory-store.js';

async function makeStore(): Promise<StoreUnderTest> {
  const store = new MemoryStore(new SeededRandom(1));
  const tenant = {
    organizationId: asId<StoreUnderTest['tenant']['organizationId']>(testId(901)),
    projectId: asId<StoreUnderTest['tenant']['projectId']>(testId(902)),
    clusterId: asId<StoreUnderTest['tenant']['clusterId']>(testId(903)),
  };
  store.createCluster(tenant.clusterId);
  store.takeWakeUps();
  return {
    store,
    tenant,
    takeWakeUps: async () => store.takeWakeUps(),
    // It believes its agents.
    proofOf: () => '',
    events: async () =>
      store.events.map((event) => ({ type: event.type, causeType: store.causeOf(event)?.type })),
    setSetting: async (name, value) => store.setSetting(tenant.clusterId, name, value),
    setQuota: async (of, limits) => {
      const id = of === 'project' ? tenant.projectId : tenant.organizationId;
      store.setQuota(of, id, limits);
    },
    stop: async () => undefined,
  };
}

describe('the store in memory', () => storeContract(makeStore));

test('a view is of the moment at which it was asked for, and the same one until a row of it changes', async () => {
  const { store, tenant } = await makeStore();
  const memory = store as MemoryStore;
  const volume = aVolume(tenant);
  memory.tables.volumes.set(volume.id, volume);
  const asked = memory.loadVolume(volume.id);
  memory.tables.dues.set(volume.id, { at: undefined, marks: 1 });
  expect((await asked)?.due.marks).toBe(0);
  const known = await memory.loadVolume(volume.id);
  expect(known?.due.marks).toBe(1);
  expect(await memory.loadVolume(volume.id)).toBe(known);
});
