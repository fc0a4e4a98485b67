import { expect, test } from '@jest/globals';
import { domainText, lossOf, lossParameters, readDomain, regionsOf } from './domains';

const ZONES = [
  { zone: null, region: null },
  { zone: 'z-10', region: 'north' },
  { zone: 'z-2', region: 'north' },
];

test('zones are grouped by region, those without labels last', () => {
  expect(regionsOf(ZONES)).toEqual([
    { name: 'north', zones: [ZONES[2], ZONES[1]] },
    { name: null, zones: [ZONES[0]] },
  ]);
});

test.each([
  ['region', 'north', { nodes: ['node-10', 'node-2', 'node-1'] }, 'node=node-10&node=node-2&node=node-1'],
  ['zone', 'z-1', { zones: ['z-1'] }, 'zone=z-1'],
  ['node', 'node-1', { nodes: ['node-1'] }, 'node=node-1'],
  ['disk', 'node-1/disk-2', { disks: ['node-1/disk-2'] }, 'disk=node-1%2Fdisk-2'],
] as const)('a %s stands for what is lost with it', async (kind, name, lost, parameters) => {
  const domain = { kind, name };
  expect(readDomain(domainText(domain))).toEqual(domain);
  const lose = await lossOf(domain, async () => ['node-10', 'node-2', 'node-1']);
  expect(lose).toEqual({ zones: [], nodes: [], disks: [], ...lost });
  expect(lossParameters(lose)).toBe(parameters);
});

test.each([null, '', 'zone', 'zone:', 'planet:earth'])('an address with %j names no domain', (text) => {
  expect(readDomain(text)).toBeUndefined();
});
