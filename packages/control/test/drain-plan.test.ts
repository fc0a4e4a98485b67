/** A drain's plan comes true: on clusters by chance the drain moves what was planned, and no volume comes below the low-water mark. */
import { expect, test } from '@jest/globals';
import { aCluster, comesTrue, drainByChance } from './planned-drains.js';

/** `drain-plan.night.test.ts` has more. */
const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1);

test.each(SEEDS)('what a drain does is what its plan said, cluster %i', drainByChance);

test('draining a node with 60 copies never goes below what the plan said, and keeps the limits', async () => {
  const { world, clients } = await aCluster(1, 3, 90);
  const fullest = [...world.nodes].sort((a, b) => b.copies.size - a.copies.size)[0];
  expect(fullest?.copies.size).toBeGreaterThanOrEqual(60);
  world.store.setSetting(world.clusterId, 'concurrent-replica-rebuild-per-node-limit', 2);
  const plan = await comesTrue(world, clients, fullest?.name ?? '', 'block-for-eviction');
  expect(plan.replicasToMove).toBeGreaterThanOrEqual(60);
  expect(plan.copiesAtLowest).toBe(2);
});
