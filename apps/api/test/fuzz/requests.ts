/** Requests by chance, one operation each: most are lawful, the others are spoiled in one place. */
import fc from 'fast-check';
import type { Document, Operation } from './schema.js';
import { HOSTILE, spoiled, valuesOf } from './values.js';

export type FuzzRequest = {
  readonly operation: Operation;
  /** Texts for the parameters of the path; ids are open. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Sent as it is, in place of the body. */
  readonly raw: string | undefined;
};

const FILTERS = [
  'name',
  'id',
  'state',
  'size',
  'createdAt',
  'nodeId',
  'robustness',
  'zone',
  'type',
  'nope',
  '__proto__',
];
const OPERATORS = ['=', '!=', '>', '<', '>=', '<=', '~', ' AND ', ''];

const hostile = fc.constantFrom(...HOSTILE);
const hostileText = hostile.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
const clause = fc
  .tuple(
    fc.constantFrom(...FILTERS),
    fc.constantFrom(...OPERATORS),
    fc.oneof(fc.string(), fc.integer(), hostileText),
  )
  .map(([field, operator, value]) => `${field}${operator}${value}`);
const tag = fc.oneof(
  fc.constantFrom('"1"', 'W/"1"', '*', '"0"', '""', '1', '"1", "2"'),
  fc.string({ unit: 'grapheme-ascii' }),
);

/** Texts for parameters of a query that a schema says too little about. */
const QUERIES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  filter: fc.oneof(
    clause,
    fc.array(clause, { maxLength: 4 }).map((all) => all.join(' AND ')),
  ),
  sort: fc.oneof(fc.constantFrom(...FILTERS, '-name', '-createdAt', 'name,-createdAt'), hostileText),
  cursor: fc.oneof(fc.base64String({ maxLength: 200 }), hostileText),
};

const BAD_JSON = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"a":1,"a":2}',
  '[['.repeat(3_000),
  '{"__proto__":{"x":1}}',
  '\u0000',
  '1e999',
];

export function requestOf(operation: Operation, document: Document): fc.Arbitrary<FuzzRequest> {
  const named = (where: string) => operation.parameters.filter((parameter) => parameter.in === where);
  const path = record(named('path'), ({ schema }) => valuesOf(schema, document).map(String), 100);
  const query = record(
    named('query'),
    ({ name, schema }) => QUERIES[name] ?? valuesOf(schema, document).map(String),
    15,
  );
  const headers = record(
    named('header'),
    ({ name }) => (name === 'If-Match' ? tag : fc.stringMatching(/^[a-z0-9]{1,12}$/)),
    15,
  );
  const body = operation.body === undefined ? fc.constant(undefined) : valuesOf(operation.body, document);
  return fc
    .record({
      path,
      query,
      headers,
      body,
      spoil: fc.record({ what: fc.nat(15), at: fc.nat(1_000), hostile, text: hostileText }),
      bad: fc.constantFrom(...BAD_JSON),
    })
    .map(({ spoil, bad, ...request }) => {
      const hasBody = operation.body !== undefined;
      const { what, at } = spoil;
      return {
        operation,
        path: what === 0 ? spoiledText(request.path, at, spoil.text) : request.path,
        query: what === 1 ? spoiledText(request.query, at, spoil.text) : request.query,
        headers: request.headers,
        body: hasBody && what >= 2 && what <= 4 ? spoiled(request.body, spoil) : request.body,
        raw: hasBody && what === 5 ? bad : undefined,
      };
    });
}

/** @param percent of the requests that have each of them, unless it is required */
function record<Parameter extends { name: string; required?: boolean }>(
  parameters: readonly Parameter[],
  made: (parameter: Parameter) => fc.Arbitrary<string>,
  percent: number,
): fc.Arbitrary<Record<string, string>> {
  const fields = parameters.map((parameter) =>
    fc.tuple(made(parameter), fc.nat(99)).map(([text, draw]) => {
      const isSent = parameter.required === true || draw < percent;
      return isSent ? [[parameter.name, text] as const] : [];
    }),
  );
  return fc.tuple(...fields).map((all) => Object.fromEntries(all.flat()));
}

function spoiledText(
  texts: Readonly<Record<string, string>>,
  at: number,
  text: string,
): Record<string, string> {
  const names = Object.keys(texts);
  const name = names[at % Math.max(1, names.length)];
  return name === undefined ? { ...texts } : { ...texts, [name]: text };
}
