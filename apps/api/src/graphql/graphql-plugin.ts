import { StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type ValidationRule,
} from 'graphql';
import mercurius, { type MercuriusOptions } from 'mercurius';
import type { Authenticator } from '../access/authenticator.js';
import { faultOf, inTrace, internalProblem, problemOf, problemSchema } from '../http/problem.js';
import { readableValues } from '../http/readable-request.js';
import { sendProblem } from '../http/send-problem.js';
import { traceIdOf } from '../http/trace-id.js';
import { withDeadline } from './deadline.js';
import type { GraphqlContext } from './fields.js';
import { withoutSuggestions } from './hidden-schema.js';
import { boundedRequest, INTROSPECTION_DEPTH_MAX, QUERY_CHARS_MAX, rootFieldsOf } from './limits.js';
import { loadersOf } from './loaders.js';
import { noteRefusedMutation, noteRefusedRequest } from './refused-mutations.js';
import { type GraphqlServices, graphqlSchema } from './schema.js';
import { noSubscriptions, serveSubscriptions } from './stream-route.js';

/** Maximum number of cached parsed queries. */
const PARSED_QUERIES_MAX = 200;

/** Serves GraphQL beside REST, at /graphql. */
export async function registerGraphql(
  fastify: FastifyInstance,
  authenticator: Authenticator,
  { introspection, ...services }: GraphqlServices & { introspection: boolean },
): Promise<void> {
  await fastify.register(async (scope) => {
    // Errors before GraphQL starts (no token, a body that is not JSON) are answered as everywhere.
    scope.setErrorHandler((error, request, reply) => {
      noteRefusedRequest(services.refused, request, error);
      return sendProblem(error, request, reply);
    });
    scope.addHook('preValidation', requireQueryText);
    const schema = withDeadline(graphqlSchema(services));
    const always = [boundedRequest, readableValues];
    const rules = introspection ? always : [...always, NoSchemaIntrospectionCustomRule];
    const format: typeof formatErrors = (result, request) =>
      formatErrors(introspection ? result : withoutSuggestions(unpacked(result)), request);
    await scope.register(mercurius, options(authenticator, schema, { rules, format }));
    scope.graphql.addHook<GraphqlContext>('preExecution', async (_schema, document, { tenant, reply }) => {
      // The request itself was counted as one.
      await authenticator.takeMore(tenant, reply, rootFieldsOf(document) - 1).catch((error: unknown) => {
        noteRefusedMutation(services.refused, tenant, document, error);
        throw error;
      });
    });
    serveSubscriptions(scope, authenticator, { schema, rules, format, statusOf });
  });
}

/**
 * Before parsing: a long query costs time even to read, and one that is not a text fails in the parser. Bodies without a query are refused
 * later.
 */
async function requireQueryText(request: FastifyRequest): Promise<void> {
  const parts = [request.body, request.query].flat();
  for (const part of parts) {
    const query = typeof part === 'object' && part !== null && 'query' in part ? part.query : undefined;
    if (query === undefined || query === null) continue;
    if (typeof query !== 'string') throw invalidQuery('must be a text');
    if (query.length > QUERY_CHARS_MAX) throw invalidQuery(`may have ${QUERY_CHARS_MAX} characters`);
    // Mercurius takes JSON for a parsed query, and fails on anything else.
    if (isJson(query)) throw invalidQuery('is JSON, and no GraphQL document');
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function invalidQuery(detail: string): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `query ${detail}`,
    errors: [{ pointer: '/query', detail }],
  });
}

function options(
  authenticator: Authenticator,
  schema: GraphQLSchema,
  { rules, format }: { rules: readonly ValidationRule[]; format: typeof formatErrors },
): MercuriusOptions {
  return {
    schema,
    path: '/graphql',
    graphiql: false,
    cache: PARSED_QUERIES_MAX,
    // Before our own bounds, which are narrower and see through fragments.
    queryDepth: INTROSPECTION_DEPTH_MAX,
    validationRules: [...rules, noSubscriptions],
    context: async (request: FastifyRequest, reply: FastifyReply) => {
      const tenant = await authenticator.requireUser(request, reply);
      const loaders = loadersOf(tenant);
      return { request, reply, tenant, loaders, startedAt: tenant.now, lastEventId: undefined };
    },
    errorFormatter: (result, context) =>
      format(result, 'request' in context && isRequest(context.request) ? context.request : undefined),
  };
}

/** Errors of resolvers come with the partial data, and with the same problem document as in REST. */
function formatErrors(
  result: ExecutionResult,
  request: FastifyRequest | undefined,
): { statusCode: number; response: ExecutionResult } {
  const errors = (unpacked(result).errors ?? []).map((error) => withProblem(error, request));
  const ran = result.data !== null && result.data !== undefined;
  // Errors of a field name its path. Without one the request was refused as a whole, and nothing of it has run.
  const isRefused = !ran && errors.every(({ path }) => path === undefined);
  return { statusCode: isRefused ? statusOf(errors) : 200, response: { data: result.data ?? null, errors } };
}

/** HTTP status of a refused request: a problem's own, or that of GraphQL's validation. */
function statusOf(errors: readonly GraphQLError[]): number {
  const problems = errors.map(({ extensions }) => problemSchema.safeParse(extensions.problem));
  return problems.find(({ success }) => success)?.data?.status ?? 400;
}

/** Mercurius packs the errors of a query that can't be run into one. */
function unpacked(result: ExecutionResult): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.flatMap(unwrapped) };
}

function unwrapped(error: GraphQLError): GraphQLError[] {
  const { originalError } = error;
  if (originalError === undefined || !('errors' in originalError) || !Array.isArray(originalError.errors)) {
    return [error];
  }
  const inner = originalError.errors.filter((each) => each instanceof GraphQLError);
  return inner.length > 0 ? inner : [error];
}

function withProblem(error: GraphQLError, request: FastifyRequest | undefined): GraphQLError {
  const { originalError } = error;
  // An error of GraphQL's own: the query is malformed, or names unknown fields.
  if (originalError === undefined || originalError instanceof GraphQLError) return unreadable(error, request);
  const known = faultOf(originalError);
  const requestId = request?.id ?? '';
  if (known === undefined) request?.log.error({ err: originalError }, 'GraphQL request failed');
  const problem = inTrace(
    known === undefined ? internalProblem(requestId) : problemOf(known.fault, requestId, known.status),
    request === undefined ? '' : traceIdOf(request),
  );
  return new GraphQLError(problem.detail, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions: { code: problem.code, problem },
  });
}

/** An error of GraphQL's own, with its location in the query, and with a problem document as all others have. */
function unreadable(error: GraphQLError, request: FastifyRequest | undefined): GraphQLError {
  const fault = new StorageFault('request.invalid', { publicMessage: error.message });
  const problem = inTrace(
    problemOf(fault, request?.id ?? '', 400),
    request === undefined ? '' : traceIdOf(request),
  );
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(error.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { ...extensions, code: problem.code, problem },
  });
}

function isRequest(value: unknown): value is FastifyRequest {
  return typeof value === 'object' && value !== null && 'id' in value && 'log' in value;
}
