import { expect, test } from '@jest/globals';
import { effectiveSettings } from './effective.js';

test('what placement is decided by is set as Longhorn sets it, unless a user sets it otherwise', () => {
  expect(effectiveSettings({})).toMatchObject({
    'replica-soft-anti-affinity': false,
    'replica-zone-soft-anti-affinity': true,
    'replica-disk-soft-anti-affinity': true,
    'storage-over-provisioning-percentage': 100,
    'storage-minimal-available-percentage': 25,
    'allow-empty-node-selector-volume': true,
    'allow-empty-disk-selector-volume': true,
    'disable-scheduling-on-cordoned-node': true,
    'replica-auto-balance': 'disabled',
    'replica-auto-balance-disk-pressure-percentage': 90,
    'replica-replenishment-wait-interval': 600,
    'fast-replica-rebuild-enabled': true,
    'allow-volume-creation-with-degraded-availability': true,
    'default-data-locality': 'disabled',
  });
});

test('what Longhorn does not have is set so that it changes nothing', () => {
  expect(effectiveSettings({})).toMatchObject({ 'balance-alpha': 1, 'replica-disk-choice': 'spread' });
});
