import { AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId } from '../model/ids.js';
import type { Relocation } from '../model/relocation.js';
import type { VolumeLifecycle } from '../model/volume-lifecycle.js';
import { planRelocationEnd } from './plan-relocation.js';

const OLD = aReplicaOn('n1-disk', { mode: 'RW' });
const RELOCATION: Relocation = {
  reason: 'requested',
  replacesId: OLD.id,
  from: { nodeId: asId('n1'), diskId: asId('n1-disk') },
  gain: 'a user wants it there',
  bytes: 0,
  at: NOON,
};
const NEW = aReplicaOn('n2-disk', { mode: 'RW', relocation: RELOCATION });

test.each<{ name: string; lifecycle: VolumeLifecycle; goes: string }>([
  { name: 'the worker', lifecycle: attachedOn('n1', { request: TO_REPAIR }), goes: OLD.id },
  { name: 'a user', lifecycle: attachedOn('n1'), goes: NEW.id },
])(
  'of a strictly local volume that $name has attached where the old copy is, $goes goes',
  ({ lifecycle, goes }) => {
    const volume = anIdleVolume(AN_OWNER, { lifecycle, epoch: 1 });
    const view = aVolumeView({
      volume: { ...volume, spec: { ...volume.spec, numberOfReplicas: 1, dataLocality: 'strict-local' } },
      replicas: [OLD, NEW],
      fleet: aFleet({ n1: {}, n2: {} }),
      engine: anEngineOn('n1'),
    });
    const step = planRelocationEnd(view, NOON);
    expect(step?.kind === 'commit' ? step.changes[0] : undefined).toMatchObject({
      replicaId: goes,
      patch: { intent: 'remove' },
    });
  },
);
