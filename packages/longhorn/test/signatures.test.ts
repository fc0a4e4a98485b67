/** Each known failure of Longhorn is found by what shows it, and not in a cluster without it. */
import { expect, test } from '@jest/globals';
import type { KubernetesObject } from '../src/reading/read-objects.js';
import { readObjects } from '../src/reading/read-objects.js';
import { isInReleases } from '../src/releases.js';
import { SIGNATURES, SignatureScan } from '../src/signatures/scan.js';
import { ClusterBuilder } from '../src/to-cluster.js';
import { HEALTHY, SHOWN } from './signature-cases.js';

const NOW = new Date('2026-11-01T00:00:00Z');

type Shown = { readonly version?: string; readonly objects?: readonly object[]; readonly log?: string };

function found({
  version = '',
  objects = [],
  log,
}: Shown): { name: string; lines: number[]; objects: string[] }[] {
  const scan = new SignatureScan();
  const builder = new ClusterBuilder(() => {});
  const setting = {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: { name: 'current-longhorn-version' },
    value: version,
  };
  const text = JSON.stringify({ kind: 'List', items: [...objects, setting] });
  const isObject = (one: { kind: string }): one is KubernetesObject => one.kind === 'object';
  for (const object of [...readObjects({ kind: 'text', file: 'dump.json', text })].filter(isObject)) {
    builder.add(object);
    scan.addObject(object);
  }
  if (log !== undefined) scan.addLog('logs/x.log', 1, log);
  const cluster = { ...builder.build(), problems: [], problemsLeftOut: 0, unreadFiles: 0 };
  return scan.finish(cluster, NOW).map(({ name, evidence }) => ({
    name,
    lines: evidence.map(({ at }) => at.line),
    objects: evidence.map(({ object }) => object),
  }));
}

test('the catalogue has all numbers once, and each has a case that shows it', () => {
  const numbers = SIGNATURES.map(({ number }) => number);
  expect(numbers).toEqual(Array.from({ length: 39 }, (_, index) => index + 1));
  expect(Object.keys(SHOWN).sort()).toEqual(SIGNATURES.map(({ name }) => name).sort());
});

test.each(Object.entries(SHOWN))('%s is found', (name, shown) => {
  for (const one of Array.isArray(shown) ? shown : [shown])
    expect(found(one).map((each) => each.name)).toContain(name);
});

test('nothing is found in a cluster that is in order', () => {
  expect(found({ version: 'v1.9.2', objects: HEALTHY, log: 'level=info msg="all is well"\n' })).toEqual([]);
});

test.each(SIGNATURES.filter(({ releases }) => releases.length > 0).map(({ name }) => name))(
  '%s is not found in a release that does not have it',
  (name) => {
    const signature = SIGNATURES.find((one) => one.name === name);
    const other = ['v1.0.0', 'v1.4.9', 'v1.99.0'].find(
      (version) => !isInReleases(version, signature?.releases ?? []),
    );
    const [shown] = [SHOWN[name] ?? []].flat();
    expect(found({ ...shown, version: other ?? '' }).map((each) => each.name)).not.toContain(name);
  },
);

test('a log names the line on which a failure stands', () => {
  const log = `first\nsecond\nkernel: connection1:0: detected conn error (1020)\nfourth\nkernel: detected conn error (1020)\n`;
  expect(found({ log })).toEqual([
    { name: 'iscsi-sessions-lost', lines: [3, 5], objects: ['log logs/x.log', 'log logs/x.log'] },
  ]);
});

test.each([
  ['v1.5.4', ['1.5.0-1.5.4'], true],
  ['1.5.5', ['1.5.0-1.5.4'], false],
  ['v1.4.3-rc1', ['<=1.4.3'], true],
  ['v1.13.0-dev', ['>=1.11.0'], true],
  ['v1.2.0', ['<1.2.0'], false],
  ['master-head', ['<1.2.0'], true],
])('release %s is in %j: %s', (version, ranges, wanted) => {
  expect(isInReleases(version, ranges)).toBe(wanted);
});
