/** What a change really does to a simulated cluster, in the words of a forecast. */
import type { Forecast } from '@holdfast/core/forecast/forecast.js';
import type { NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { isEvicting } from '@holdfast/core/model/volume-facts.js';
import type { World } from '@holdfast/simulator/world.js';

export type Reality = {
  /** Until the last rebuild that succeeded had ended; `undefined`: none did. */
  readonly seconds: number | undefined;
  readonly bytes: number;
  readonly lowest: ReadonlyMap<VolumeId, number>;
  readonly ends: ReadonlyMap<
    VolumeId,
    { readonly copies: number; readonly end: 'full' | 'lost' | 'lacking' }
  >;
};

/** @param run lets the change happen, and as much time pass as it needs */
export async function watchChange(world: World, run: () => Promise<void>): Promise<Reality> {
  const beganAt = world.clock.now().getTime();
  const before = new Set([...world.store.tables.rebuilds.values()].filter(isOver).map(({ id }) => id));
  const lowest = new Map<VolumeId, number>();
  world.onTick = async () => {
    for (const id of world.store.tables.volumes.keys()) {
      const count = copiesOf(world, id).length;
      lowest.set(id, Math.min(lowest.get(id) ?? count, count));
    }
  };
  await world.onTick();
  await run();
  await world.onTick();
  const done = [...world.store.tables.rebuilds.values()].filter(
    ({ id, state }) => state === 'succeeded' && !before.has(id),
  );
  const last = Math.max(...done.map(({ finishedAt }) => finishedAt?.getTime() ?? 0));
  return {
    seconds: done.length === 0 ? undefined : (last - beganAt) / 1000,
    bytes: done.reduce((sum, { bytes }) => sum + bytes.total, 0),
    lowest,
    ends: await endsOf(world),
  };
}

function isOver({ state }: { state: string }): boolean {
  return state !== 'queued' && state !== 'running';
}

/** Full copies that can be read. */
function copiesOf(world: World, volumeId: VolumeId) {
  return world.store.tables.replicas
    .by('volume', volumeId)
    .filter((replica) => isHealthy(replica) && replica.intent !== 'remove' && isThere(world, replica));
}

function isThere(world: World, { id, nodeId }: { id: ReplicaId; nodeId: NodeId | undefined }): boolean {
  const node = world.nodes.find((one) => one.nodeId === nodeId);
  return node?.isReachable === true && node.copy(id) !== undefined;
}

async function endsOf(world: World): Promise<Reality['ends']> {
  const fleet = await world.store.loadFleet(world.clusterId);
  return new Map(
    [...world.store.tables.volumes.values()].map(({ id, spec }) => {
      const all = world.store.tables.replicas.by('volume', id);
      const copies = copiesOf(world, id);
      const staying = copies.filter((replica) => !isEvicting(replica, fleet, all));
      const end = copies.length === 0 ? 'lost' : staying.length >= spec.numberOfReplicas ? 'full' : 'lacking';
      return [id, { copies: copies.length, end }];
    }),
  );
}

/** What of a forecast did not come true; empty: all did. */
export function differences(forecast: Forecast, reality: Reality): string[] {
  return [...timeDifferences(forecast, reality), ...volumeDifferences(forecast, reality)];
}

function timeDifferences({ time, bytesToMove }: Forecast, { seconds, bytes }: Reality): string[] {
  const isTimeRight =
    time === null || seconds === undefined
      ? time === null && seconds === undefined
      : seconds >= time.lowSeconds && seconds <= time.p90Seconds;
  const range = time === null ? 'none' : `${time.lowSeconds} to ${time.p90Seconds}`;
  return [
    ...(isTimeRight ? [] : [`takes ${seconds} s, not ${range}`]),
    ...(bytes === bytesToMove ? [] : [`moves ${bytes} bytes, not ${bytesToMove}`]),
  ];
}

/** One that waits for its users may have all its copies. */
function wordsFor({ end, copiesAtEnd, copiesWanted }: Forecast['volumes']['shown'][number]) {
  if (end === 'unschedulable') return ['lacking'];
  if (end === 'waiting') return copiesAtEnd >= copiesWanted ? ['full', 'lacking'] : ['lacking'];
  return [end];
}

function volumeDifferences({ volumes, lowWater, ...counts }: Forecast, { lowest, ends }: Reality): string[] {
  const found = volumes.shown.flatMap((volume) => {
    const { volumeId, volumeName, end, copiesAtLowest, copiesAtEnd } = volume;
    const real = ends.get(volumeId);
    const expected: readonly (string | undefined)[] = wordsFor(volume);
    const least = lowest.get(volumeId);
    return [
      ...(expected.includes(real?.end) ? [] : [`${volumeName} ends ${real?.end}, not ${end}`]),
      ...(real?.copies === copiesAtEnd
        ? []
        : [`${volumeName} has ${real?.copies} copies, not ${copiesAtEnd}`]),
      ...(least === copiesAtLowest ? [] : [`${volumeName} comes to ${least} copies, not ${copiesAtLowest}`]),
    ];
  });
  const named = new Set(volumes.shown.map(({ volumeId }) => volumeId));
  const others = [...ends].filter(([id, { end }]) => !named.has(id) && end !== 'full');
  const low = volumes.shown.map(({ copiesAtLowest }) => copiesAtLowest);
  const isLowRight = lowWater === null ? low.length === 0 : lowWater.copies === Math.min(...low);
  const lost = volumes.shown.filter(({ end }) => end === 'lost').length;
  return [
    ...found,
    ...others.map(([id, { end }]) => `volume ${id} is not named, and ends ${end}`),
    ...(isLowRight ? [] : ['the low-water mark is not that of its volumes']),
    ...(counts.volumesLost === lost ? [] : [`${lost} volumes are lost, not ${counts.volumesLost}`]),
  ];
}
