/**
 * Makes the OpenAPI document from the controllers' metadata: Nest's own metadata for paths and parameters, `@Route` for the rest, and zod's
 * JSON Schemas.
 */
import { changesNothing } from '@holdfast/access/permissions.js';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { z } from 'zod';
import { type HandlerParameter, handlerParameters, routeOptionsOf } from '../access/handler-parameters.js';
import type { RouteOptions } from '../access/route.decorator.js';
import { schemaOf } from '../http/dto.js';
import { problemExample, problemSchema } from '../http/problem.js';
import { DRY_RUN_TYPE, dryRunSchema } from '../resources/dry-runs/dry-run.schemas.js';
import { OPERATION_TYPE, operationSchema } from '../resources/operations/operation.schemas.js';
import { ANSWER_EXAMPLES } from './answer-examples.js';
import { REQUEST_EXAMPLES } from './examples.js';
import { refusalsOf } from './refusals.js';

type JsonSchema = Record<string, unknown>;
type Operation = Record<string, unknown>;

const PREFIX = 'api/v1';
const COMPONENTS = '#/components/schemas/';
const RESPONSES = '#/components/responses/';

const SECURITY = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The secret of a token, or of a session.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-holdfast_session',
    description:
      "A browser's session. Over plain HTTP on loopback the name has no `__Host-`. Writes have to come from our own pages.",
  },
  certificate: { type: 'mutualTLS', description: "The certificate of a node's agent." },
};

const DESCRIPTION = `A control plane for replicated block volumes.

Where an organization or the project of a token has a quota of requests, each answer says so in \`RateLimit-Policy\` \
(\`"organization";q=600;w=60\`: 600 in 60 seconds) and what is left of it in \`RateLimit\` (\`"organization";r=599;t=42\`: \
599 in the next 42 seconds, unless other callers of the organization take them). A request past it is refused with 429.`;

/** Security requirement of a route; `undefined`: the document's default. */
function securityOf(access: RouteOptions['access']): object[] | undefined {
  if (access === 'public') return [];
  return access === 'agent' ? [{ certificate: [] }] : undefined;
}

export function openApiDocument(controllers: readonly Type[]): object {
  const components = new Map<string, JsonSchema>();
  const shared = new Map<string, object>();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const controller of controllers) {
    for (const route of routesOf(controller)) {
      if (!route.path.startsWith(`/${PREFIX}`)) continue;
      const path = paths[route.path] ?? {};
      paths[route.path] = { ...path, [route.method]: operationOf(route, components, shared) };
    }
  }
  answerSchema(problemSchema, components);
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version: '1', description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { session: [] }],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: sortedByName(withExamples(components)),
      responses: sortedByName(shared),
      securitySchemes: SECURITY,
    },
  };
}

function withExamples(components: ReadonlyMap<string, JsonSchema>): Map<string, JsonSchema> {
  return new Map(
    [...components].map(([name, schema]) => {
      const example = ANSWER_EXAMPLES[name];
      return [name, example === undefined ? schema : { ...schema, examples: [JSON.parse(example)] }];
    }),
  );
}

function sortedByName(parts: ReadonlyMap<string, object>): object {
  return Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type DescribedRoute = {
  path: string;
  method: string;
  operationId: string;
  tag: string;
  options: RouteOptions;
  body: z.ZodType | undefined;
  query: z.ZodType | undefined;
  parameters: z.ZodType | undefined;
  takesIfMatch: boolean;
};

function* routesOf(controller: Type): Generator<DescribedRoute> {
  const base = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
  const tag = controller.name.replace(/Controller$/, '').toLowerCase();
  for (const name of Object.getOwnPropertyNames(controller.prototype)) {
    const options = routeOptionsOf(controller, name);
    if (options === undefined) continue;
    const handler: object = controller.prototype[name];
    const parameters = handlerParameters(controller, name);
    const method: RequestMethod = Reflect.getMetadata(METHOD_METADATA, handler);
    const tail = String(Reflect.getMetadata(PATH_METADATA, handler) ?? '');
    const path = `/${base}/${tail}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
    yield {
      path: path.replace(/:(\w+)/g, '{$1}'),
      method: RequestMethod[method].toLowerCase(),
      operationId: `${tag}_${name}`,
      tag,
      options,
      body: parameterSchema(parameters, 'body'),
      query: parameterSchema(parameters, 'query'),
      parameters: parameterSchema(parameters, 'path'),
      // Objects without a version compare the tag of the read answer.
      takesIfMatch: takesIfMatch(method, options),
    };
  }
}

/** Every write of a user does: by the object's version, or by the tag of its read (`IfMatchInterceptor`). */
function takesIfMatch(method: RequestMethod, { access }: RouteOptions): boolean {
  if (method === RequestMethod.GET) return false;
  return access !== 'public' && access !== 'agent' && !changesNothing(access);
}

/** The schema of the handler's parameter that takes the body, the query or the path. */
function parameterSchema(
  parameters: readonly HandlerParameter[],
  from: HandlerParameter['from'],
): z.ZodType | undefined {
  return schemaOf(parameters.find((parameter) => parameter.from === from)?.type);
}

function operationOf(
  route: DescribedRoute,
  components: Map<string, JsonSchema>,
  shared: Map<string, object>,
): Operation {
  const { options, body } = route;
  const security = securityOf(options.access);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: options.summary,
    ...(security === undefined ? {} : { security }),
    ...(options.dryRun === undefined ? {} : { 'x-holdfast-destructive': true }),
    parameters: [
      ...parametersOf(route.parameters, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(options.dryRun === undefined ? [] : [DRY_RUN]),
      ...headersOf(route),
    ],
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body, REQUEST_EXAMPLES[route.operationId]) }),
    responses: { ...successOf(route, components), ...refusalResponses(route, shared) },
  };
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): object[] {
  if (schema === undefined) return [];
  const { properties } = requestSchema(schema);
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).map(([name, property]: [string, unknown]) => {
    const { description, ...schema } = isRecord(property) ? property : {};
    return { name, in: place, required: place === 'path', description, schema };
  });
}

const DRY_RUN = {
  name: 'dryRun',
  in: 'query',
  required: false,
  description: 'True: nothing is changed, and the answer says what would be. Refusals are the same.',
  schema: { type: 'boolean' },
};

/** Headers that a route understands beside those of every request. */
function headersOf({ method, options, takesIfMatch }: DescribedRoute): object[] {
  if (options.access === 'public' || options.access === 'agent') return [];
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  const ifMatch = header('If-Match', 'The ETag that was read: 412 when it is not the current one.');
  const key = header('Idempotency-Key', 'A repeat with the same key gets the first answer.');
  const known = header(
    'If-None-Match',
    'Tags of answers that are there: 304 when one of them would come again.',
  );
  const wait = header(
    'Prefer',
    '`wait=10`: answers with the operation as it is at its end, or after so many seconds, 30 at most; then with `Preference-Applied: wait`.',
  );
  return [
    ...(method === 'post' ? [key] : []),
    ...(isTagged(method, options) ? [known] : []),
    ...(takesIfMatch ? [ifMatch] : []),
    ...(options.mayWait === true ? [wait] : []),
  ];
}

/** Complete answers have a tag; a stream can not be hashed before its end. */
function isTagged(method: string, { answer }: RouteOptions): boolean {
  return method === 'get' && answer !== undefined;
}

function requestBodyOf(schema: z.ZodType, example: object | undefined): object {
  // A body that needs no field may be left out.
  const required = !schema.safeParse({}).success;
  const shown = example === undefined ? {} : { example };
  return { required, content: { 'application/json': { schema: requestSchema(schema), ...shown } } };
}

function successOf({ options, method }: DescribedRoute, components: Map<string, JsonSchema>): object {
  const content = {
    schema: options.answer === undefined ? {} : answerSchema(options.answer.schema, components),
  };
  const done = options.status ?? 200;
  const types = options.produces ?? (options.answer === undefined ? [] : ['application/json']);
  const answered = Object.fromEntries(types.map((type) => [type, content]));
  const planned = options.dryRun === undefined ? {} : contentOf(DRY_RUN_TYPE, dryRunSchema, components);
  // A route that reads operations answers with one anyway.
  const waits = options.mayWait === true && method !== 'get';
  const waited = waits ? contentOf(OPERATION_TYPE, operationSchema, components) : {};
  return {
    ...(done === 200 ? {} : withBody(alsoAt200(options), { ...planned, ...waited })),
    [done]: {
      description: 'Done.',
      ...bodyOf({ ...answered, ...(done === 200 ? planned : {}), ...waited }),
    },
    ...(isTagged(method, options)
      ? { 304: { description: 'The answer has the tag of `If-None-Match`.' } }
      : {}),
    ...(options.mayAccept === true
      ? { 202: { description: 'Accepted: the worker is at it.', ...bodyOf({ ...answered, ...waited }) } }
      : {}),
  };
}

/** Cases in which a route answers 200 instead of 202 or 204. */
function alsoAt200({ dryRun, mayWait }: RouteOptions): string {
  const planned = dryRun === undefined ? [] : ['Of a dry run: nothing was changed.'];
  const waited = mayWait === true ? ['Of `Prefer: wait`: the operation has ended.'] : [];
  return [...planned, ...waited].join(' ');
}

function withBody(description: string, content: object): object {
  return Object.keys(content).length === 0 ? {} : { 200: { description, content } };
}

function bodyOf(content: object): { content?: object } {
  return Object.keys(content).length === 0 ? {} : { content };
}

function contentOf(type: string, schema: z.ZodType, components: Map<string, JsonSchema>): object {
  return { [type]: { schema: answerSchema(schema, components) } };
}

/** A response for each status that the route refuses with, which names its codes; `default` for all others. */
function refusalResponses(route: DescribedRoute, shared: Map<string, object>): object {
  const { method, options, parameters, takesIfMatch } = route;
  const facts = { hasPath: parameters !== undefined, takesIfMatch };
  const byStatus = [...refusalsOf({ method, options, ...facts })];
  return Object.fromEntries([
    ...byStatus.map(([status, codes]) => [String(status), sharedResponse(status, codes, shared)]),
    ['default', problemResponse('A problem document (RFC 9457).', PROBLEM)],
  ]);
}

const PROBLEM = { $ref: `${COMPONENTS}Problem` };

const textHeader = (description: string) => ({ description, schema: { type: 'string' } });

const LIMITED = {
  'Retry-After': textHeader('Seconds until it may be tried again.'),
  'RateLimit-Policy': textHeader('As on all answers to a caller with a quota of requests.'),
  RateLimit: textHeader('As on all answers to a caller with a quota of requests.'),
};

/** A reference to the response with these codes: most operations share theirs with others. */
function sharedResponse(status: number, codes: readonly string[], shared: Map<string, object>): object {
  const name = [status, ...codes].join('_');
  const code = { type: 'string', enum: codes, description: 'One of the codes of this status.' };
  const schema = { allOf: [PROBLEM, { type: 'object', properties: { code } }] };
  const example = problemExample(status, codes);
  const response = problemResponse(`Refused: ${codes.join(', ')}.`, schema, example);
  shared.set(name, codes.includes('request.rate_limited') ? { ...response, headers: LIMITED } : response);
  return { $ref: `${RESPONSES}${name}` };
}

function problemResponse(description: string, schema: object, example?: object): object {
  const shown = example === undefined ? {} : { example };
  return { description, content: { 'application/problem+json': { schema, ...shown } } };
}

/** Schema of a client's input: before defaults are filled in. */
function requestSchema(schema: z.ZodType): JsonSchema {
  return withoutMarks(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' }),
  );
}

/** A reference to a named schema, which is added to the components with all of its references. */
function answerSchema(schema: z.ZodType, components: Map<string, JsonSchema>): JsonSchema {
  const name = schema.meta()?.id;
  const { $defs, ...json } = withoutMarks(
    z.toJSONSchema(schema, {
      io: 'output',
      unrepresentable: 'any',
      target: 'draft-2020-12',
      // Answers may get further fields, and clients must expect that.
      override: ({ jsonSchema }) => {
        delete jsonSchema.additionalProperties;
      },
    }),
  );
  for (const [id, definition] of Object.entries(isRecord($defs) ? $defs : {})) {
    if (isRecord(definition)) components.set(id, definition);
  }
  if (typeof name !== 'string') return json;
  // A named root may already be a reference to its own definition.
  if (!('$ref' in json)) components.set(name, json);
  return { $ref: `${COMPONENTS}${name}` };
}

/** Points references at the components, and drops JSON Schema's bookkeeping keys. */
function withoutMarks(schema: object): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  );
  const json: unknown = JSON.parse(text.replaceAll('#/$defs/', COMPONENTS));
  return isRecord(json) ? json : {};
}

function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
