import { AN_OWNER, anIdleVolume, secondsAfterNoon, testId } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId, type VolumeId } from '../model/ids.js';
import type { Volume } from '../model/volume.js';
import { DETACHED_LOOKS_MAX, detachedToAsk } from './detached-moves.js';
import type { VolumeOnNode } from './node-volumes.js';

const FLEET = aFleet({ a: { evictionRequested: true, allowScheduling: false }, b: {} });
const NEVER_ATTACHED: Partial<Volume> = { rebuildHold: 'standby' };

function detached(count: number, part: Partial<Volume> = {}, from = 0): VolumeOnNode[] {
  return Array.from({ length: count }, (_, at): VolumeOnNode => {
    const volume = anIdleVolume(AN_OWNER, { id: asId<VolumeId>(testId(from + at)), ...part });
    volume.spec = { ...volume.spec, numberOfReplicas: 1 };
    const ids = { id: asId<ReplicaId>(testId(1000 + from + at)), volumeId: volume.id };
    return { volume, replicas: [aReplicaOn('a-disk', ids)], rebuilds: [] };
  });
}

const askedAt = (volumes: readonly VolumeOnNode[], seconds: number) =>
  detachedToAsk(volumes, FLEET, secondsAfterNoon(seconds)).map(({ volume }) => volume.id);

test('those that may not be moved now are passed over: the others are asked at once', () => {
  const others = detached(3, {}, 500);
  const volumes = [...detached(100, NEVER_ATTACHED), ...others];
  expect(askedAt(volumes, 0)).toEqual(others.map(({ volume }) => volume.id));
});

test.each([1, 5, 7, 10, 30, 60])(
  'of many none waits for ever to be asked, in runs that come every %i seconds',
  (pace) => {
    const volumes = detached(300);
    const asked = new Set<VolumeId>();
    for (let run = 0; run < 60; run += 1) {
      const now = askedAt(volumes, run * pace);
      expect(new Set(now).size).toBe(DETACHED_LOOKS_MAX);
      for (const id of now) asked.add(id);
    }
    expect(asked.size).toBe(volumes.length);
  },
);
