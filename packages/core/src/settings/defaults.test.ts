import { expect, test } from '@jest/globals';
import { effectiveSettings, parseSettingValue } from './effective.js';
import { settingsOf } from './engine-maps.js';

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

test.each([
  ['concurrent-replica-rebuild-per-node-limit', 'unlimited', Number.POSITIVE_INFINITY],
  ['concurrent-rebuild-per-cluster-limit', 'unlimited', Number.POSITIVE_INFINITY],
  ['concurrent-replica-rebuild-per-node-limit', '0', 0],
])('%s set to %s reads as %s', (name, value, want) => {
  expect(effectiveSettings({ [name]: value })).toMatchObject({ [name]: want });
});

test.each([
  ['concurrent-replica-rebuild-per-node-limit', 'none', /from 0 to 100, or unlimited/],
  ['replica-replenishment-wait-interval', 'unlimited', /from 0 to \d+$/],
])('%s can not be set to %s, and says what it takes', (name, value, want) => {
  expect(() => parseSettingValue(name, value)).toThrow(want);
});

test('a map gives each data engine its own value, and a plain value is that of both', () => {
  const settings = effectiveSettings({ 'engine-replica-timeout': '{"v1":"9","v2":"20"}' });
  const timeoutOf = (engine: 'v1' | 'v2') => settingsOf(settings, engine)['engine-replica-timeout'];
  expect([timeoutOf('v1'), timeoutOf('v2')]).toEqual([9, 20]);
  const plain = effectiveSettings({ 'engine-replica-timeout': '9' });
  expect(settingsOf(plain, 'v2')['engine-replica-timeout']).toBe(9);
  const one = effectiveSettings({ 'replica-rebuild-concurrent-sync-limit': { v1: 3 } });
  expect(settingsOf(one, 'v1')['replica-rebuild-concurrent-sync-limit']).toBe(3);
  expect(settingsOf(one, 'v2')['replica-rebuild-concurrent-sync-limit']).toBe(1);
});

test.each([
  ['snapshot-data-integrity', '{"v1":"enabled","v2":"enabled"}', 'enabled'],
  ['snapshot-data-integrity-immediate-check-after-snapshot-creation', { v1: 'true', v2: true }, true],
  ['snapshot-data-integrity-cronjob', '{"v1":"0 0 */7 * *","v2":"0 0 */7 * *"}', '0 0 */7 * *'],
  ['replica-rebuilding-bandwidth-limit', '{"v2":"40"}', 40],
])('%s, of one value here, takes the map %j that gives all data engines the same', (name, value, want) => {
  expect(parseSettingValue(name, value)).toBe(want);
});

test.each([
  ['snapshot-data-integrity', '{"v1":"enabled","v2":"disabled"}', /one value for all/],
  ['snapshot-data-integrity', '{"v3":"enabled"}', /one value for all/],
  ['snapshot-data-integrity', '{}', /one value for all/],
  ['engine-replica-timeout', '{"v1":"9"}', /exactly v1 and v2/],
  ['engine-replica-timeout', { v1: 9, v2: 10, v3: 11 }, /exactly v1 and v2/],
  ['engine-replica-timeout', { v1: 9, v2: 7 }, /from 8 to 30/],
  ['replica-soft-anti-affinity', { v1: true, v2: false }, /one value for all/],
])('%s can not be set to the map %j', (name, value, want) => {
  expect(() => parseSettingValue(name, value)).toThrow(want);
});
