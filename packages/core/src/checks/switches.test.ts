/** Work that a setting turns off is found when it begins nevertheless, and not if the volume overrides the setting. */
import { A_SPEC, testId } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId } from '../model/ids.js';
import type { VolumeSpec } from '../model/volume.js';
import { effectiveSettings } from '../settings/effective.js';
import {
  checkCordonDetachment,
  checkFailover,
  checkHashing,
  checkMove,
  checkOrphanRemoval,
  checkPurgeBeforeRebuild,
} from './switches.js';

const judged = (spec: Partial<VolumeSpec>, overrides: Record<string, unknown> = {}) => ({
  volume: { name: 'v1', spec: { ...A_SPEC, ...spec } },
  settings: effectiveSettings(overrides),
});
const BALANCED = { 'replica-auto-balance': 'best-effort' };
const HASHED = { 'snapshot-data-integrity': 'fast-check' };
const HASHED_V2 = { 'snapshot-data-integrity': { v1: 'disabled', v2: 'enabled' } };
const UNHASHED = { 'snapshot-data-integrity': 'disabled' };
const orphan = (by?: 'person' | 'setting') => ({
  replicaId: 'r1',
  removal: by === undefined ? undefined : { by },
});
const ORPHANS_GO = effectiveSettings({ 'orphan-resource-auto-deletion': 'replica-data' });
const ORPHANS_STAY = effectiveSettings({});
const CORDON = { 'detach-manually-attached-volumes-when-cordoned': true };
const A_REPLICA = { id: asId<ReplicaId>(testId(1)) };
const KEPT = { 'auto-cleanup-system-generated-snapshot': false };
const UNPURGED = { 'disable-snapshot-purge': true };

test.each<{ name: string; found: readonly string[]; count: number }>([
  { name: 'balance that is off', found: checkMove('balance', judged({})), count: 1 },
  { name: 'balance of the cluster', found: checkMove('balance', judged({}, BALANCED)), count: 0 },
  {
    name: 'balance that the volume refuses',
    found: checkMove('balance', judged({ replicaAutoBalance: 'disabled' }, BALANCED)),
    count: 1,
  },
  { name: 'a selector that moves nothing', found: checkMove('selector', judged({})), count: 1 },
  {
    name: 'locality that is off',
    found: checkMove('locality', judged({ dataLocality: 'disabled' })),
    count: 1,
  },
  { name: 'a move by hand', found: checkMove('requested', judged({})), count: 0 },
  { name: 'failover that is off', found: checkFailover(judged({})), count: 1 },
  {
    name: 'failover of the cluster',
    found: checkFailover(judged({}, { 'volume-failover-delay': 30 })),
    count: 0,
  },
  { name: 'failover of the volume', found: checkFailover(judged({ failoverDelay: 30 })), count: 0 },
  {
    name: 'failover that the volume refuses',
    found: checkFailover(judged({ failoverDelay: -1 }, { 'volume-failover-delay': 30 })),
    count: 1,
  },
  { name: 'detachment at a cordon that is off', found: checkCordonDetachment(judged({})), count: 1 },
  { name: 'detachment at a cordon', found: checkCordonDetachment(judged({}, CORDON)), count: 0 },
  {
    name: 'an orphan that a setting removes',
    found: checkOrphanRemoval(orphan('setting'), undefined, ORPHANS_GO),
    count: 0,
  },
  {
    name: 'an orphan that a setting removes while it is off',
    found: checkOrphanRemoval(orphan('setting'), undefined, ORPHANS_STAY),
    count: 1,
  },
  {
    name: 'an orphan that a user removes',
    found: checkOrphanRemoval(orphan('person'), undefined, ORPHANS_STAY),
    count: 0,
  },
  {
    name: 'an orphan whose removal was never asked for',
    found: checkOrphanRemoval(orphan(), undefined, ORPHANS_GO),
    count: 1,
  },
  {
    name: "a replica's copy that is removed as an orphan",
    found: checkOrphanRemoval(orphan('person'), A_REPLICA, ORPHANS_STAY),
    count: 1,
  },
  { name: 'hashing that is off', found: checkHashing(judged({}, UNHASHED)), count: 1 },
  { name: 'hashing of the other engine only', found: checkHashing(judged({}, HASHED_V2)), count: 1 },
  { name: 'hashing of its engine', found: checkHashing(judged({ dataEngine: 'v2' }, HASHED_V2)), count: 0 },
  { name: 'hashing of the cluster', found: checkHashing(judged({}, HASHED)), count: 0 },
  { name: 'clean-up that is off', found: checkPurgeBeforeRebuild(effectiveSettings(KEPT)), count: 1 },
  { name: 'purges that are off', found: checkPurgeBeforeRebuild(effectiveSettings(UNPURGED)), count: 1 },
  { name: 'clean-up as it is by default', found: checkPurgeBeforeRebuild(effectiveSettings({})), count: 0 },
])('$name', ({ found, count }) => {
  expect(found).toHaveLength(count);
});
