import { expect, test } from '@jest/globals';
import { SETTINGS, type SettingDefinition } from '../model/setting.js';
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
  ['concurrent-replica-rebuild-per-node-limit', '101', /from 0 to 100, or unlimited/],
  ['concurrent-replica-rebuild-per-node-limit', '-1', /from 0 to 100, or unlimited/],
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

test('an engine that a map may leave out has the default', () => {
  const settings = effectiveSettings({ 'replica-rebuilding-bandwidth-limit': '{"v2":"40"}' });
  const limitOf = (engine: 'v1' | 'v2') => settingsOf(settings, engine)['replica-rebuilding-bandwidth-limit'];
  expect([limitOf('v1'), limitOf('v2')]).toEqual([0, 40]);
});

/** Two values that differ, of the setting's own type. */
function twoValues(definition: SettingDefinition): [unknown, unknown] {
  switch (definition.type) {
    case 'boolean':
      return [true, false];
    case 'enum':
      return [definition.options[0], definition.options[1]];
    case 'cron':
      return ['@daily', '@hourly'];
    case 'list':
      return ['', definition.options[0]];
    case 'integer':
    case 'number':
      return [definition.min, definition.max];
  }
}

test.each(Object.entries<SettingDefinition>(SETTINGS).filter(([, { engines }]) => engines !== undefined))(
  'volumes of each engine have their own value of %s',
  (name, definition) => {
    const values = twoValues(definition);
    const engines = definition.engines ?? [];
    const map = Object.fromEntries(engines.map((engine, index) => [engine, values[index]]));
    const settings = effectiveSettings({ [name]: JSON.stringify(map) });
    for (const engine of engines) expect(settingsOf(settings, engine)).toMatchObject({ [name]: map[engine] });
  },
);

test.each([
  ['replica-soft-anti-affinity', '{"v1":"true","v2":"true"}', true],
  ['replica-replenishment-wait-interval', { v1: '40', v2: 40 }, 40],
])('%s, of one value here, takes the map %j that gives all data engines the same', (name, value, want) => {
  expect(parseSettingValue(name, value)).toBe(want);
});

test.each([
  ['replica-soft-anti-affinity', '{"v3":"true"}', /one value for all/],
  ['replica-soft-anti-affinity', '{}', /one value for all/],
  ['snapshot-data-integrity', '{"v1":"enabled"}', /exactly v1 and v2/],
  ['snapshot-data-integrity', { v1: 'enabled', v2: 'often' }, /must be one of/],
  ['snapshot-data-integrity-cronjob', { v1: '@daily', v2: 'at noon' }, /snapshot-data-integrity-cronjob/],
  ['replica-rebuilding-bandwidth-limit', '{"v3":"40"}', /v1 or v2/],
  ['replica-rebuilding-bandwidth-limit', '{}', /v1 or v2/],
  ['replica-rebuilding-bandwidth-limit', { v2: -1 }, /from 0 to/],
  ['engine-replica-timeout', '{"v1":"9"}', /exactly v1 and v2/],
  ['engine-replica-timeout', { v1: 9, v2: 10, v3: 11 }, /exactly v1 and v2/],
  ['engine-replica-timeout', { v1: 9, v2: 7 }, /from 8 to 30/],
  ['replica-soft-anti-affinity', { v1: true, v2: false }, /one value for all/],
])('%s can not be set to the map %j', (name, value, want) => {
  expect(() => parseSettingValue(name, value)).toThrow(want);
});
