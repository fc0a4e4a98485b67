import { expect, test } from '@jest/globals';
import { domainText, lossOf, lossParameters, readDomain, regionsOf } from './domains';

const NODES = [
  { name: 'node-10', zone: 'z-2', region: 'north' },
  { name: 'node-2', zone: 'z-2', region: 'north' },
  { name: 'node-1', zone: 'z-1', region: 'north' },
  { name: 'bare', zone: null, region: null },
];

test('nodes are grouped by region and zone, those without labels last', () => {
  expect(regionsOf(NODES)).toMatchObject([
    {
      name: 'north',
      zones: [
        { name: 'z-1', nodes: [{ name: 'node-1' }] },
        { name: 'z-2', nodes: [{ name: 'node-2' }, { name: 'node-10' }] },
      ],
    },
    { name: null, zones: [{ name: null, nodes: [{ name: 'bare' }] }] },
  ]);
});

test.each([
  ['region', 'north', { nodes: ['node-10', 'node-2', 'node-1'] }, 'node=node-10&node=node-2&node=node-1'],
  ['zone', 'z-1', { zones: ['z-1'] }, 'zone=z-1'],
  ['node', 'node-1', { nodes: ['node-1'] }, 'node=node-1'],
  ['disk', 'node-1/disk-2', { disks: ['node-1/disk-2'] }, 'disk=node-1%2Fdisk-2'],
] as const)('a %s stands for what is lost with it', (kind, name, lost, parameters) => {
  const domain = { kind, name };
  expect(readDomain(domainText(domain))).toEqual(domain);
  const lose = lossOf(domain, NODES);
  expect(lose).toEqual({ zones: [], nodes: [], disks: [], ...lost });
  expect(lossParameters(lose)).toBe(parameters);
});

test.each([null, '', 'zone', 'zone:', 'planet:earth'])('an address with %j names no domain', (text) => {
  expect(readDomain(text)).toBeUndefined();
});
