/** The OpenAPI document as the fuzzer reads it: what an operation takes, and what it may answer. */
import { CONTROLLERS } from '../../src/app/app.module.js';
import { openApiDocument } from '../../src/openapi/openapi.js';

/** A JSON schema, as far as requests are made of it. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly multipleOf?: number;
};

type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type Response = { readonly $ref?: string; readonly content?: Content };
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
};
export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** By status, or `default`. */
  readonly responses: Readonly<Record<string, Response>>;
};

type RawOperation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
};

/** Made of plain objects, and read as a client would read it. */
export function readDocument(): Document {
  return JSON.parse(JSON.stringify(openApiDocument(CONTROLLERS)));
}

/**
 * The document's schemas as the API itself has to keep them: clients must expect further fields, but one that is in no schema is
 * one that was never meant to be told.
 */
export function strictComponents({ components }: Document): object {
  const strict = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strict);
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(([key, part]) => [key, strict(part)]);
    const isClosed = 'properties' in value && 'type' in value && value.type === 'object';
    return { ...Object.fromEntries(parts), ...(isClosed ? { additionalProperties: false } : {}) };
  };
  return { ...components, schemas: strict(components.schemas) };
}

/** All operations but streams, which have no end to wait for. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(() => !path.endsWith('/stream'))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        name: `${method.toUpperCase()} ${path}`,
        parameters: operation.parameters ?? [],
        body: operation.requestBody?.content['application/json']?.schema,
        responses: operation.responses,
      })),
  );
}

export function resolved(schema: Schema, { components }: Document): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (components.schemas[name] ?? {});
}

/** The schema that an answer of a status has to match; `undefined`: the answer has no body. */
export function answerSchema(operation: Operation, status: number, document: Document): Schema | undefined {
  return Object.values(answerContent(operation, status, document))[0]?.schema;
}

/** Media types of the answer. */
export function answerTypes(operation: Operation, status: number, document: Document): string[] {
  return Object.keys(answerContent(operation, status, document));
}

function answerContent({ responses }: Operation, status: number, { components }: Document) {
  const response = responses[String(status)] ?? responses.default;
  const name = response?.$ref?.replace('#/components/responses/', '');
  const found = name === undefined ? response : components.responses[name];
  return found?.content ?? {};
}

/** Names of the parameters that stand for one item of a list: `…/volumes` → `volumeId`. */
export function itemParameters({ paths }: Document): ReadonlyMap<string, string> {
  const all = Object.keys(paths).map((path) => /^(.*)\/\{(\w+)\}$/.exec(path));
  return new Map(all.flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? '']])));
}
