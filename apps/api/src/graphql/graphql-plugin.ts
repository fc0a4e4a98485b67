import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import mercurius, { type MercuriusContext, type MercuriusOptions } from 'mercurius';
import type { Authenticator } from '../auth/authenticator.js';
import { sendProblem } from '../platform/problem.filter.js';
import { faultOf, internalProblem, problemOf } from '../platform/problem.js';
import { boundedRequest, QUERY_DEPTH_MAX } from './limits.js';
import { type GraphqlServices, graphqlSchema } from './schema.js';

/** Queries whose parsed form is kept. */
const PARSED_QUERIES_MAX = 200;

/** Serves GraphQL beside REST, at /graphql. */
export async function registerGraphql(
  fastify: FastifyInstance,
  authenticator: Authenticator,
  services: GraphqlServices,
): Promise<void> {
  await fastify.register(async (scope) => {
    // What goes wrong before GraphQL begins (no token, a body that is no JSON) is answered as everywhere.
    scope.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
    await scope.register(mercurius, options(authenticator, services));
  });
}

function options(authenticator: Authenticator, services: GraphqlServices): MercuriusOptions {
  return {
    schema: graphqlSchema(services),
    path: '/graphql',
    graphiql: false,
    cache: PARSED_QUERIES_MAX,
    queryDepth: QUERY_DEPTH_MAX,
    validationRules: [boundedRequest],
    context: async (request: FastifyRequest) => ({
      request,
      tenant: await authenticator.requireUser(request),
    }),
    errorFormatter: formatErrors,
  };
}

/** Errors of resolvers come with the data that there is, and with the same problem document as in REST. */
function formatErrors(
  result: ExecutionResult,
  context: MercuriusContext,
): { statusCode: number; response: ExecutionResult } {
  const request = 'request' in context && isRequest(context.request) ? context.request : undefined;
  const errors = (result.errors ?? []).flatMap(unwrapped).map((error) => withProblem(error, request));
  const ran = result.data !== null && result.data !== undefined;
  const isRefused = !ran && errors.every(({ extensions }) => extensions.problem === undefined);
  // Refused by GraphQL itself: nothing of the request has run.
  return { statusCode: isRefused ? 400 : 200, response: { data: result.data ?? null, errors } };
}

/** Mercurius packs the errors of a query that can't be run into one. */
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
  // Of GraphQL itself: the query could not be read, or asks for what there is not.
  if (originalError === undefined || originalError instanceof GraphQLError) return error;
  const known = faultOf(originalError);
  const requestId = request?.id ?? '';
  if (known === undefined) request?.log.error({ err: originalError }, 'GraphQL request failed');
  const problem =
    known === undefined ? internalProblem(requestId) : problemOf(known.fault, requestId, known.status);
  return new GraphQLError(problem.detail, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions: { code: problem.code, problem },
  });
}

function isRequest(value: unknown): value is FastifyRequest {
  return typeof value === 'object' && value !== null && 'id' in value && 'log' in value;
}
