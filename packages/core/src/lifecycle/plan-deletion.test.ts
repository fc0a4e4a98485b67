import { AN_OWNER, anIdleVolume, aReplica, NOON, testId } from '@holdfast/testkit/builders.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { asId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import { DETACHED, type VolumeLifecycle } from '../model/volume-lifecycle.js';
import { planDeletion } from './plan-deletion.js';

const DELETING: VolumeLifecycle = { state: 'deleting', requestedAt: NOON, grant: undefined };

function planned(lifecycle: VolumeLifecycle, replicas: Replica[] = []) {
  const volume = anIdleVolume(AN_OWNER, { lifecycle });
  return planDeletion(aVolumeView({ volume, replicas }), NOON);
}

describe('the deletion of a volume', () => {
  test('is told in the transaction that deletes its row, after it', () => {
    const step = planned(DELETING);
    expect(step).toMatchObject({
      kind: 'commit',
      changes: [
        { kind: 'volume.delete' },
        { kind: 'event', event: { type: 'VolumeDeleted', subject: { kind: 'volume' } } },
      ],
    });
  });

  test('removes its copies before', () => {
    expect(planned(DELETING, [aReplica({ volumeId: asId(testId(1)) })])).toMatchObject({
      kind: 'remove-replica',
    });
  });

  test('is not planned for one that stays', () => {
    expect(planned(DETACHED)).toBeUndefined();
  });
});
