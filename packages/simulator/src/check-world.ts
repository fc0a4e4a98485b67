import { checkBookings, checkRebuildLimits, checkVolume } from '@holdfast/core/checks/volume-invariants.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { World } from './world.js';

/** Everything in a world that must never be so, in words; empty when all is well. */
export async function checkWorld(world: World): Promise<string[]> {
  const { store, clusterId } = world;
  const queue = await store.loadAdmissions(clusterId, { now: world.clock.now(), limit: 1 });
  const findings = [
    ...world.momentFindings,
    ...checkBookings(await store.loadFleet(clusterId)),
    ...checkRebuildLimits(queue),
  ];
  const inEngines = checkRebuildLimits({ settings: queue.settings, running: await rebuildsInEngines(world) });
  findings.push(...inEngines.map((finding) => `by its engines, ${finding}`));
  for (const volumeId of store.volumeIds) {
    const view = await store.loadVolume(volumeId);
    if (view !== undefined) findings.push(...checkVolume(view));
  }
  return findings;
}

/** State of the engines themselves, whatever the database has. */
async function rebuildsInEngines({ nodes, store }: World): Promise<Rebuild[]> {
  const running = new Set(
    nodes
      .flatMap(({ engines }) => [...engines.values()].map((engine) => engine.report()))
      .filter(({ state }) => state !== 'stopped')
      .flatMap(({ rebuilds }) => rebuilds.filter(({ state }) => state === 'running'))
      .map(({ rebuildId }) => rebuildId),
  );
  const views = await Promise.all(store.volumeIds.map((volumeId) => store.loadVolume(volumeId)));
  return views.flatMap((view) => view?.rebuilds.filter(({ id }) => running.has(id)) ?? []);
}
