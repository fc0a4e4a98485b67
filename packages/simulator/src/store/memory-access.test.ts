import { asId, type ClusterId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { accessContract } from '@holdfast/testkit/access-contract.js';
import { testId } from '@holdfast/testkit/builders.js';
import { describe } from '@jest/globals';
import { SeededRandom } from '../seeded-random.js';
import { MemoryAccess } from './memory-access.js';
import { MemoryStore } from './memory-store.js';

const otherOrganizationId = asId<OrganizationId>(testId(902));
const clusterId = asId<ClusterId>(testId(903));

describe('members, invitations and settings in memory', () => {
  accessContract(async () => {
    const store = new MemoryStore(new SeededRandom(1));
    store.createCluster(clusterId);
    const access = new MemoryAccess(store, [otherOrganizationId]);
    return {
      access,
      organizationId: asId<OrganizationId>(testId(901)),
      otherOrganizationId,
      clusterId,
      addMember: async (number, role) => {
        const userId = asId<UserId>(testId(number));
        const email = `user-${number}@example.test`;
        access.addMember({ userId, email, role, isServiceAccount: false, isManaged: false, version: 1 });
        return userId;
      },
      invited: async () => access.invitations.map(({ email }) => email).sort(),
      events: async () => store.events.map(({ type }) => type),
    };
  });
});
