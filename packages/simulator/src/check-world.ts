import { checkBookings, checkRebuildLimits, checkVolume } from '@holdfast/core/checks/volume-invariants.js';
import type { World } from './world.js';

/** Everything in a world that must never be so, in words; empty when all is well. */
export async function checkWorld({ store, clusterId }: World): Promise<string[]> {
  const findings = [
    ...checkBookings(await store.loadFleet(clusterId)),
    ...checkRebuildLimits(await store.loadRebuildQueue(clusterId)),
  ];
  for (const volumeId of store.volumeIds) {
    const view = await store.loadVolume(volumeId);
    if (view !== undefined) findings.push(...checkVolume(view));
  }
  return findings;
}
