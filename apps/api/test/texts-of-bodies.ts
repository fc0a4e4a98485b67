/** Every text that a request body may hold, read from the OpenAPI document. */
import { randomUUID } from 'node:crypto';
import type { Json } from './api-fixture.js';

type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
};
type Operation = {
  requestBody?: { content: { 'application/json': { schema: JsonSchema; example?: Json } } };
};
type Document = { paths: Record<string, Record<string, Operation>> };

export type TextOfBody = {
  /** Method and path of the operation, below `/api/v1`. */
  readonly where: string;
  readonly method: string;
  /** With ids of nothing in it: a body is judged before the object is looked for. */
  readonly path: string;
  /** Of the text in the body (RFC 6901). */
  readonly pointer: string;
  /** The operation's example with another text there. */
  readonly body: (text: string) => unknown;
};

/** @yields the texts of all operations that users call */
export function* textsOfBodies({ paths }: Document): Generator<TextOfBody> {
  for (const [full, operations] of Object.entries(paths)) {
    if (full.startsWith('/api/v1/agent/')) continue;
    const short = full.replace('/api/v1', '');
    const path = short.replaceAll(/\{\w+\}/g, () => randomUUID());
    for (const [verb, { requestBody }] of Object.entries(operations)) {
      if (requestBody === undefined) continue;
      const method = verb.toUpperCase();
      const { schema, example } = requestBody.content['application/json'];
      for (const keys of new Set([...textsIn(schema, [])].map((found) => found.join('/')))) {
        const parts = keys.split('/');
        const body = (text: string) => withText(example ?? {}, parts, text);
        yield { where: `${method} ${short}`, method, path, pointer: `/${keys}`, body };
      }
    }
  }
}

/** Paths of the texts of a schema. Of a list the first item, of a map one with a key of its own. */
function* textsIn(schema: JsonSchema, at: readonly string[]): Generator<readonly string[]> {
  if ([schema.type].flat().includes('string') && schema.enum === undefined) yield at;
  for (const variant of [schema.anyOf, schema.oneOf, schema.allOf].flat())
    if (variant !== undefined) yield* textsIn(variant, at);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* textsIn(inner, [...at, name]);
  if (schema.items !== undefined) yield* textsIn(schema.items, [...at, '0']);
  if (typeof schema.additionalProperties === 'object')
    yield* textsIn(schema.additionalProperties, [...at, 'key']);
}

function withText(value: unknown, [first, ...rest]: readonly string[], text: string): unknown {
  if (first === undefined) return text;
  if (first === '0') return [withText(Array.isArray(value) ? value[0] : undefined, rest, text)];
  const known = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...known, [first]: withText(new Map(Object.entries(known)).get(first), rest, text) };
}
