import { type Document, type Operation, operationsOf, resolved, type Schema } from './fuzz/schema.js';

/** One request in which one field holds a value at an edge. */
export type EdgeRequest = {
  readonly where: string;
  readonly method: string;
  /** Below the root, with names of parameters in braces. */
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
};

/** What Postgres' integers, JavaScript's numbers and most programs' counters end at. */
const NUMBERS: readonly number[] = [
  -1,
  0,
  0.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  1e308,
];
/** What no name has, what a terminal obeys, half a character, and more than any column holds. */
const TEXTS: readonly string[] = ['', '\u0000', '\u001b[2J', '\ud800', '\u202e', 'a\nb', 'x'.repeat(70_000)];

/** @yields for each field of each body, and each parameter of each query, a request with each value at an edge */
export function* edgeRequests(
  document: Document,
  exampleOf: (operation: Operation) => unknown,
): Generator<EdgeRequest> {
  for (const operation of operationsOf(document)) {
    const { method, path, name, body } = operation;
    const example = exampleOf(operation);
    if (body !== undefined) {
      for (const { keys, schema } of leavesOf(body, document, []))
        for (const value of edgesOf(schema)) {
          const where = `${name} /${keys.join('/')} = ${JSON.stringify(value).slice(0, 40)}`;
          yield { where, method, path, query: '', body: withValue(example, keys, value) };
        }
    }
    for (const { name: parameter, in: place, schema } of operation.parameters) {
      if (place !== 'query') continue;
      for (const value of edgesOf(resolved(schema, document))) {
        const query = `?${parameter}=${encodeURIComponent(String(value).replace('\ud800', '?'))}`;
        if (query.length > QUERY_CHARS_MAX) continue;
        yield { where: `${name} ${query}`, method, path, query, body: example };
      }
    }
  }
}

/** A longer address is refused before there is a route. */
const QUERY_CHARS_MAX = 8_000;
const DEPTH_MAX = 8;

type Leaf = { readonly keys: readonly string[]; readonly schema: Schema };

function* leavesOf(given: Schema, document: Document, keys: readonly string[]): Generator<Leaf> {
  const schema = resolved(given, document);
  if (keys.length > DEPTH_MAX) return;
  const types: readonly (string | undefined)[] = [schema.type].flat();
  if (types.some((type) => type === 'string' || type === 'integer' || type === 'number'))
    yield { keys, schema };
  for (const choice of schema.anyOf ?? schema.oneOf ?? []) yield* leavesOf(choice, document, keys);
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    yield* leavesOf(inner, document, [...keys, name]);
  if (schema.items !== undefined) yield* leavesOf(schema.items, document, [...keys, '0']);
}

/** Its own bounds and one beyond each, and those that every number and text is tried with. */
function edgesOf({ type, minimum, maximum, minLength, maxLength }: Schema): (string | number)[] {
  if ([type].flat().includes('string')) {
    const lengths = [minLength, maxLength].flatMap((length) =>
      length === undefined ? [] : [Math.max(0, length - 1), length, length + 1],
    );
    return [...TEXTS, ...lengths.map((length) => 'a'.repeat(Math.min(length, 10_000)))];
  }
  const bounds = [minimum, maximum].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1],
  );
  return [...new Set([...NUMBERS, ...bounds])];
}

function withValue(value: unknown, [first, ...rest]: readonly string[], put: unknown): unknown {
  if (first === undefined) return put;
  if (first === '0') return [withValue(Array.isArray(value) ? value[0] : undefined, rest, put)];
  const known = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...known, [first]: withValue(new Map(Object.entries(known)).get(first), rest, put) };
}
