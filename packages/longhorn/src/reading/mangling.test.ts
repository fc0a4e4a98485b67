/** The kit's changes to objects, row by row, written as the kit writes them and read back. */
import { expect, test } from '@jest/globals';
import { mangledYaml } from '../../test/bundle-files.js';
import { isMangled, undoMangling } from './mangling.js';
import { readObjects } from './read-objects.js';

const FILE = 'b/yamls/namespaced/longhorn-system/longhorn.io/v1beta2/volumes.yaml';

/** The object's `spec` after the kit has written it and we have read it. */
function specRead(spec: object): unknown {
  const text = mangledYaml([
    { apiVersion: 'longhorn.io/v1beta2', kind: 'Volume', metadata: { name: 'v' }, spec },
  ]);
  const [object] = readObjects({ kind: 'text', file: FILE, text });
  return object?.kind === 'object' ? object.json.spec : object;
}

test.each<{ name: string; spec: object; wanted?: object }>([
  { name: 'an empty string', spec: { nodeID: '', zone: '' } },
  { name: 'null before a comma, under letters', spec: { tags: null, size: '1' } },
  { name: 'null as the last member', spec: { size: '1', disks: null } },
  { name: 'null under a key with other characters', spec: { snake_case: null, v2: null, size: '1' } },
  { name: 'a string that ends in a quote', spec: { message: 'disk "d1"', size: '1' } },
  { name: 'a string that is one quote', spec: { message: '"' } },
  { name: 'a key that ends in a quote', spec: { 'v:"longhorn.io"': 1 } },
  { name: 'an empty key', spec: { tickets: { '': { id: '' } } } },
  { name: 'an empty string in embedded JSON', spec: { 'last-applied-configuration': '{"a":"","b":"x"}' } },
  { name: 'empty maps and lists', spec: { labels: {}, disks: [] } },
  { name: 'empty strings in a list', spec: { list: ['', 'a', ''] } },
  {
    name: 'whole numbers of a million and more',
    spec: { storageReserved: 118_225_516_953, count: 1_000_000, small: 999_999 },
  },
  { name: 'a text of digits beside them', spec: { size: '107374182400', storageMaximum: 394_085_056_512 } },
  { name: 'numbers up to 2^53', spec: { most: Number.MAX_SAFE_INTEGER } },
  {
    name: 'managed fields, which are left out',
    spec: { managedFields: [{ fieldsV1: { 'v:"longhorn.io"': {} } }], size: '1' },
    wanted: { size: '1' },
  },
])('$name comes back', ({ spec, wanted = spec }) => {
  expect(specRead(spec)).toEqual(wanted);
});

test('null in JSON that is a string itself was replaced there, and stays a string', () => {
  expect(specRead({ config: '{"a":null,"b":1}' })).toEqual({ config: '{"a":"null","b":1}' });
});

test('numbers are written with exponents, as the kit writes them', () => {
  expect(mangledYaml([{ a: 1_000_000, b: 118_225_516_953, c: 999_999 }])).toContain(
    '- a: 1e+06\n  b: 1.18225516953e+11\n  c: 999999',
  );
});

test('nothing is undone of what another program wrote', () => {
  const text =
    'apiVersion: longhorn.io/v1beta2\nkind: Volume\nmetadata:\n  name: v\nspec:\n  message: "null"\n';
  const [object] = readObjects({ kind: 'text', file: 'dump.yaml', text });
  expect(object).toMatchObject({ json: { spec: { message: 'null' } } });
});

test('a file that was taken out of its bundle is known by its empty probe times', () => {
  expect(isMangled('nodes.yaml', '    lastProbeTime: "null"\n')).toBe(true);
  expect(isMangled('nodes.yaml', '    lastProbeTime: ""\n')).toBe(false);
});

test('what has no mangling is the same after it was undone', () => {
  const value = { a: [1, null, true, 'x'], b: { c: 'not "null" here' } };
  expect(undoMangling(value)).toEqual(value);
});
