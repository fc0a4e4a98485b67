import { expect, test } from '@jest/globals';
import { openApiDocument } from './openapi-document.js';

type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  anyOf?: JsonSchema[];
};
type Field = { where: string; name: string; schema: JsonSchema };

/** Levels of the document that say nothing about where a field is. */
const UNTOLD = new Set([
  'items',
  'anyOf',
  'allOf',
  'content',
  'application/json',
  'schema',
  'responses',
  'components',
]);

const FIELDS = [...fieldsIn(openApiDocument(), '')];

test('the walk finds the fields of answers, of bodies and of addresses', () => {
  const found = FIELDS.map(({ where }) => where);
  expect(found.length).toBeGreaterThan(500);
  for (const end of ['.Volume.endpoint.nbdUri', '/expand.post.requestBody.size', ' clusterId', ' If-Match'])
    expect(found.filter((where) => where.endsWith(end))).not.toEqual([]);
});

const lacking = (isWrong: (field: Field) => boolean) => FIELDS.filter(isWrong).map(({ where }) => where);

test('every field says what it means', () => {
  expect(lacking(({ name, schema }) => isFiller(name, schema.description ?? ''))).toEqual([]);
});

test('every field that may be null says what that means', () => {
  expect(lacking(({ schema }) => mayBeNull(schema) && !/\bnull\b/i.test(schema.description ?? ''))).toEqual(
    [],
  );
});

const UNITS = [
  { end: /Bytes$|^bytes$/, unit: /\bbytes?\b/i },
  { end: /PerSecond$/, unit: /\bper second\b/i },
  { end: /Ms$/, unit: /\bmilliseconds?\b/i },
  { end: /(?<!Per)Seconds?$/, unit: /\bseconds?\b/i },
];

test.each(UNITS)('a number whose name ends in $end.source says its unit', ({ end, unit }) => {
  const isNumber = (schema: JsonSchema) =>
    variantsOf(schema).some(({ type }) => type === 'integer' || type === 'number');
  expect(
    lacking(({ name, schema }) => end.test(name) && isNumber(schema) && !unit.test(schema.description ?? '')),
  ).toEqual([]);
});

test('a field whose name ends in At, or is at or since, is a time', () => {
  const isTime = (schema: JsonSchema) => variantsOf(schema).some(({ format }) => format === 'date-time');
  expect(lacking(({ name, schema }) => /(?:At|^at|^since)$/.test(name) && !isTime(schema))).toEqual([]);
});

/** Every property of every schema in the document, and every parameter of every operation. */
function* fieldsIn(part: unknown, where: string): Generator<Field> {
  if (Array.isArray(part)) {
    for (const item of part) yield* fieldsIn(item, where);
    return;
  }
  if (!isRecord(part)) return;
  if ('in' in part && 'name' in part && isRecord(part.schema)) {
    const name = String(part.name);
    yield { where: `${where} ${name}`, name, schema: { ...part.schema, ...descriptionOf(part) } };
  }
  for (const [key, value] of Object.entries(part)) {
    if (key !== 'properties' || !isRecord(value)) {
      yield* fieldsIn(value, key === 'schemas' || UNTOLD.has(key) ? where : `${where}.${key}`);
      continue;
    }
    for (const [name, schema] of Object.entries(value)) {
      if (isRecord(schema)) yield { where: `${where}.${name}`, name, schema };
      yield* fieldsIn(schema, `${where}.${name}`);
    }
  }
}

function descriptionOf({ description }: Record<string, unknown>) {
  return typeof description === 'string' ? { description } : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The field's schema and, of one that may be null, what it is else. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  return [schema, ...(schema.anyOf ?? [])];
}

function mayBeNull(schema: JsonSchema): boolean {
  return variantsOf(schema).some(
    ({ type }) => type === 'null' || (Array.isArray(type) && type.includes('null')),
  );
}

/**
 * A description that says no more than the field's name: nothing is left of it without the name's own words. Of an id there
 * is no more to say than whose it is.
 */
function isFiller(name: string, description: string): boolean {
  if (/Id$/.test(name)) return description === '';
  const ownWords = new Set(name.split(/(?=[A-Z])|[-_.]/).map((word) => word.toLowerCase()));
  const words = description.toLowerCase().match(/[a-zα-ω0-9]+/g) ?? [];
  return words.every((word) => ownWords.has(word) || ['a', 'an', 'the', 'of', 'its'].includes(word));
}
