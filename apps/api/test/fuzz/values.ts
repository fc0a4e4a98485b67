/**
 * Values by chance, made of a JSON schema: lawful ones, and lawful ones in which one place holds what no schema wants. Ids are
 * left open, to be filled with what exists when the request is sent.
 */
import fc from 'fast-check';
import { type Document, resolved, type Schema } from './schema.js';

/** Stands for an id until the request is sent; the number chooses which. */
export const OPEN_ID = /^@id:(\d+)$/;
const ITEMS_MAX = 4;
const DEPTH_MAX = 8;

const openId = fc.nat(10_000).map((at) => `@id:${at}`);

/** What has broken servers before: odd characters, sizes, dates, types and depths. */
export const HOSTILE: readonly unknown[] = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u001b[2J',
  '\u202e',
  "'; DROP TABLE volume; --",
  '{{7*7}}',
  '%00',
  '../../etc',
  '',
  ' ',
  'x'.repeat(20_000),
  '9999-99-99T99:99:99Z',
  '+275760-09-13T00:00:00Z',
  '0000-00-00T00:00:00Z',
  'NaN',
  '__proto__',
  'constructor',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  -1,
  0,
  0.5,
  -0,
  1e308,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  null,
  true,
  [],
  {},
  [null],
  [[[[]]]],
  { __proto__: null, constructor: { prototype: 1 } },
  { toString: 1 },
  nested(40),
];

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}

export function valuesOf(schema: Schema, document: Document, depth = 0): fc.Arbitrary<unknown> {
  const known = resolved(schema, document);
  if (depth > DEPTH_MAX) return fc.constant(null);
  if (known.const !== undefined) return fc.constant(known.const);
  if (known.enum !== undefined) return fc.constantFrom(...known.enum);
  const choices = known.anyOf ?? known.oneOf;
  if (choices !== undefined)
    return fc.oneof(...choices.map((choice) => valuesOf(choice, document, depth + 1)));
  switch (known.type) {
    case 'string':
      return text(known);
    case 'integer':
      return integer(known);
    case 'number':
      return fc.double({ min: known.minimum ?? -1e9, max: known.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valuesOf(known.items ?? {}, document, depth + 1), {
        minLength: Math.min(known.minItems ?? 0, ITEMS_MAX),
        maxLength: Math.min(known.maxItems ?? ITEMS_MAX, ITEMS_MAX),
      });
    case 'object':
      return object(known, document, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function text({ format, pattern, minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<unknown> {
  if (format === 'uuid') return openId;
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern !== undefined && format === undefined) return fc.stringMatching(new RegExp(pattern));
  const lengths = { minLength, maxLength: Math.min(maxLength, 60) };
  return fc.oneof(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,14}$/),
    fc.string({ ...lengths, unit: 'grapheme' }),
    openId,
  );
}

function integer({ minimum, maximum, exclusiveMinimum, multipleOf = 1 }: Schema): fc.Arbitrary<unknown> {
  const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  const range = {
    min: Math.ceil(least / multipleOf),
    max: Math.floor((maximum ?? Number.MAX_SAFE_INTEGER) / multipleOf),
  };
  const small = fc.integer({ min: range.min, max: Math.min(range.max, range.min + 10) });
  return fc.oneof(small, fc.integer(range)).map((count) => count * multipleOf);
}

function object(
  { properties = {}, required = [] }: Schema,
  document: Document,
  depth: number,
): fc.Arbitrary<unknown> {
  const fields: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, valuesOf(field, document, depth + 1)]),
  );
  return fc.record(fields, { requiredKeys: required.filter((name) => name in properties) });
}

/** The value with one place of it replaced, left out or added. */
export function spoiled(value: unknown, { at, hostile }: { at: number; hostile: unknown }): unknown {
  if (Array.isArray(value) && value.length > 0 && at % 3 !== 0) {
    const index = at % value.length;
    return value.map((item, one) => (one === index ? spoiled(item, { at: at >> 2, hostile }) : item));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return hostile;
  const fields = Object.entries(value);
  const index = at % (fields.length + 2);
  if (index === fields.length) return hostile;
  if (index > fields.length) return { ...value, surplus: hostile };
  return Object.fromEntries(
    fields.flatMap(([name, item], one) => {
      if (one !== index) return [[name, item]];
      return at % 5 === 0 ? [] : [[name, spoiled(item, { at: at >> 2, hostile })]];
    }),
  );
}
