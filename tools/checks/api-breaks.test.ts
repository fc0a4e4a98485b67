/** The API breaks nothing that its last released document promises. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { breakingChanges } from './api-breaks.js';
import { repositoryRoot } from './run-tool.js';

const RELEASED = path.join(repositoryRoot, 'docs', 'openapi.released.json');
const CURRENT = path.join(repositoryRoot, 'packages', 'api-client', 'openapi.json');

test('clients of the released document can use the API as it is now', () => {
  const [released, current] = [RELEASED, CURRENT].map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
  // A change that has to break them needs a version of its own, and a document that is released with it.
  expect(breakingChanges(released, current)).toEqual([]);
});

type Part = Record<string, unknown>;
const VOLUME = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 63 },
    size: { type: 'integer', minimum: 4096 },
    state: { type: 'string', enum: ['on', 'off'] },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'size'],
};

/** A document with one operation that takes and gives a volume. */
function documentOf(sent: Part, received: Part, more: Part = {}): Part {
  const content = (schema: Part) => ({ content: { 'application/json': { schema } } });
  const operation = {
    parameters: [{ name: 'force', in: 'query', required: false, schema: { type: 'boolean' } }],
    requestBody: { required: false, ...content(sent) },
    responses: { 200: content({ $ref: '#/components/schemas/Volume' }) },
    ...more,
  };
  return { paths: { '/volumes': { post: operation } }, components: { schemas: { Volume: received } } };
}

const BEFORE = documentOf(VOLUME, VOLUME);
const without = (field: string) => {
  const { [field]: _gone, ...properties } = VOLUME.properties as Record<string, unknown>;
  return { ...VOLUME, properties };
};
const withField = (field: string, schema: Part) => ({
  ...VOLUME,
  properties: { ...VOLUME.properties, [field]: schema },
});

describe('what breaks a client', () => {
  test.each([
    ['an operation that is gone', { paths: {} }, 'POST /volumes is gone'],
    ['a field that is not taken any more', documentOf(without('state'), VOLUME), 'body: field state is gone'],
    [
      'a field that is required now',
      documentOf({ ...VOLUME, required: ['name', 'size', 'state'] }, VOLUME),
      'field state is required now',
    ],
    [
      'a body that is required now',
      documentOf(VOLUME, VOLUME, {
        requestBody: { required: true, content: { 'application/json': { schema: VOLUME } } },
      }),
      'a body is required now',
    ],
    [
      'a word that is not taken any more',
      documentOf(withField('state', { type: 'string', enum: ['on'] }), VOLUME),
      'off is gone',
    ],
    [
      'a bound that is tighter',
      documentOf(withField('name', { type: 'string', maxLength: 10 }), VOLUME),
      'maxLength was 63, is 10',
    ],
    [
      'a bound that is new',
      documentOf(withField('labels', { type: 'array', maxItems: 3, items: { type: 'string' } }), VOLUME),
      'maxItems',
    ],
    [
      'another type of what is sent',
      documentOf(withField('size', { type: 'string' }), VOLUME),
      'was integer, is string',
    ],
    [
      'a field that is not given any more',
      documentOf(VOLUME, without('name')),
      'answer 200: field name is gone',
    ],
    [
      'a field that may be left out now',
      documentOf(VOLUME, { ...VOLUME, required: ['name'] }),
      'field size may be left out now',
    ],
    [
      'a field that may be null now',
      documentOf(VOLUME, withField('size', { type: ['integer', 'null'] })),
      'answer 200.size: was integer',
    ],
    [
      'items of another type',
      documentOf(VOLUME, withField('labels', { type: 'array', items: { type: 'number' } })),
      'labels[]: was string',
    ],
    ['a status that is gone', documentOf(VOLUME, VOLUME, { responses: { 201: {} } }), 'status 200 is gone'],
    [
      'a parameter that is gone',
      documentOf(VOLUME, VOLUME, { parameters: [] }),
      'parameter query force is gone',
    ],
    [
      'a parameter that is required now',
      documentOf(VOLUME, VOLUME, {
        parameters: [{ name: 'force', in: 'query', required: true, schema: {} }],
      }),
      'parameter query force is required now',
    ],
  ])('a client is broken by %s', (_, after, want) => {
    expect(breakingChanges(BEFORE, after)).toEqual([expect.stringContaining(want)]);
  });
});

test.each([
  [
    'a further field',
    documentOf(withField('zone', { type: 'string' }), withField('zone', { type: 'string' })),
  ],
  [
    'a further word of an answer',
    documentOf(VOLUME, withField('state', { type: 'string', enum: ['on', 'off', 'busy'] })),
  ],
  ['a bound that is wider', documentOf(withField('name', { type: 'string', maxLength: 100 }), VOLUME)],
  ['null where it may be sent', documentOf(withField('size', { type: ['integer', 'null'] }), VOLUME)],
])('a client is not broken by %s', (_, after) => {
  expect(breakingChanges(BEFORE, after)).toEqual([]);
});
