import { describe, expect, test } from '@jest/globals';
import type { VolumeSpec } from '../model/volume.js';
import { followingValue, type OverrideField, VOLUME_OVERRIDES } from '../model/volume-overrides.js';
import { effectiveSettings } from '../settings/effective.js';
import { clusterValue, effectiveValue, ownValue } from './volume-settings.js';
import { resolveVolumeSpec } from './volume-spec.js';

const DEFAULTS = effectiveSettings({});
/** Of a volume that was created with nothing but a size. */
const FOLLOWING = resolveVolumeSpec('pg-data', { sizeBytes: 4096 }, DEFAULTS);

describe('what is in effect for a volume', () => {
  test.each<{
    name: string;
    of: OverrideField;
    own?: Partial<VolumeSpec>;
    cluster?: Record<string, unknown>;
    is: string | number;
  }>([
    { name: 'a default', of: 'snapshotDataIntegrity', is: 'fast-check' },
    {
      name: "its cluster's answer",
      of: 'snapshotDataIntegrity',
      cluster: { 'snapshot-data-integrity': 'enabled' },
      is: 'enabled',
    },
    {
      name: 'its own before that',
      of: 'snapshotDataIntegrity',
      own: { snapshotDataIntegrity: 'disabled' },
      cluster: { 'snapshot-data-integrity': 'enabled' },
      is: 'disabled',
    },
    { name: 'a switch that is off', of: 'offlineRebuilding', is: 'disabled' },
    {
      name: 'a switch that is on',
      of: 'offlineRebuilding',
      cluster: { 'offline-replica-rebuilding': true },
      is: 'enabled',
    },
    { name: 'a switch of a kind of its own', of: 'replicaZoneSoftAntiAffinity', is: 'enabled' },
    { name: 'a count', of: 'snapshotMaxCount', own: { snapshotMaxCount: 7 }, is: 7 },
    { name: 'a count of the cluster', of: 'snapshotMaxCount', cluster: { 'snapshot-max-count': 9 }, is: 9 },
    { name: 'no more snapshots than are ever taken', of: 'snapshotMaxCount', is: 239 },
    { name: 'nor by its own answer', of: 'snapshotMaxCount', own: { snapshotMaxCount: 250 }, is: 239 },
    { name: 'its disk choice', of: 'replicaDiskChoice', own: { replicaDiskChoice: 'pack' }, is: 'pack' },
    {
      name: "its cluster's answer to its engine",
      of: 'snapshotDataIntegrity',
      own: { dataEngine: 'v2' },
      cluster: { 'snapshot-data-integrity': { v1: 'enabled', v2: 'disabled' } },
      is: 'disabled',
    },
    {
      name: 'its own bandwidth',
      of: 'replicaRebuildingBandwidthLimit',
      own: { replicaRebuildingBandwidthLimit: 5 },
      cluster: { 'replica-rebuilding-bandwidth-limit': { v1: 40 } },
      is: 5,
    },
    {
      name: 'the bandwidth of its engine',
      of: 'replicaRebuildingBandwidthLimit',
      cluster: { 'replica-rebuilding-bandwidth-limit': { v1: 40 } },
      is: 40,
    },
  ])('is $name', ({ of, own, cluster, is }) => {
    expect(effectiveValue({ ...FOLLOWING, ...own }, effectiveSettings(cluster ?? {}), of)).toBe(is);
  });

  test('is what the cluster says as long as the volume says nothing, for each of them', () => {
    for (const override of VOLUME_OVERRIDES) {
      const { field } = override;
      expect(ownValue(FOLLOWING, field)).toBeUndefined();
      expect(effectiveValue(FOLLOWING, DEFAULTS, field)).toBe(clusterValue(FOLLOWING, DEFAULTS, field));
      expect(ownValue({ ...FOLLOWING, [field]: followingValue(override) }, field)).toBeUndefined();
    }
  });
});
