/**
 * Serves subscriptions at /graphql/stream as server-sent events, in the "distinct connections" mode of the graphql-sse protocol: a
 * message `next` for each result, with the event's id so that browsers resume by `Last-Event-ID`, and `complete` at the end.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
  parse,
  specifiedRules,
  subscribe,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { z } from 'zod';
import type { Authenticator } from '../access/authenticator.js';
import { invalidRequest } from '../http/validation.pipe.js';
import { beginEventStream, writeBounded } from '../resources/events/bounded-response.js';
import type { GraphqlContext } from './fields.js';
import { loadersOf } from './loaders.js';

/** Proxies and browsers give up on a silent connection; half of the usual 30 s. */
const KEEP_ALIVE_MS = 15_000;

const bodySchema = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

export type StreamOptions = {
  readonly schema: GraphQLSchema;
  readonly rules: readonly ValidationRule[];
  /** Errors in the format of the GraphQL API. */
  format(result: ExecutionResult, request: FastifyRequest): { response: ExecutionResult };
  /** Of a request that was refused as a whole. */
  statusOf(errors: readonly GraphQLError[]): number;
};

export function serveSubscriptions(
  fastify: FastifyInstance,
  authenticator: Authenticator,
  options: StreamOptions,
): void {
  fastify.post('/graphql/stream', async (request, reply) => {
    const tenant = await authenticator.requireUser(request, reply);
    const body = bodySchema.safeParse(request.body);
    if (!body.success) throw invalidRequest(body.error.issues, (path) => path.join('.'));
    const { query, variables, operationName } = body.data;
    const document = documentOf(query);
    const errors = validate(options.schema, document, [
      ...specifiedRules,
      ...options.rules,
      onlySubscriptions,
    ]);
    const lastEventId = request.headers['last-event-id'];
    const contextValue: GraphqlContext = {
      tenant,
      reply,
      loaders: loadersOf(tenant),
      startedAt: tenant.now,
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    };
    const results =
      errors.length > 0
        ? { errors }
        : await subscribe({
            schema: options.schema,
            document,
            contextValue,
            variableValues: variables ?? {},
            operationName: operationName ?? null,
          });
    if (Symbol.asyncIterator in results) return sendResults(results, reply, options);
    const { response } = options.format(results, request);
    return reply.code(options.statusOf(response.errors ?? [])).send(response);
  });
}

function documentOf(query: string): DocumentNode {
  try {
    return parse(query);
  } catch (error) {
    const detail = error instanceof GraphQLError ? error.message : 'is no GraphQL';
    throw new StorageFault('request.invalid', {
      publicMessage: `query: ${detail}`,
      errors: [{ pointer: '/query', detail }],
    });
  }
}

/** Everything else is answered at /graphql, with its audit entries. */
function onlySubscriptions(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (node.operation === OperationTypeNode.SUBSCRIPTION) return;
      context.reportError(
        new GraphQLError('queries and mutations are answered at /graphql', { nodes: [node] }),
      );
    },
  };
}

/** Rule of /graphql: no subscriptions. */
export function noSubscriptions(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (node.operation !== OperationTypeNode.SUBSCRIPTION) return;
      context.reportError(
        new GraphQLError('subscriptions are answered at /graphql/stream', { nodes: [node] }),
      );
    },
  };
}

async function sendResults(
  results: AsyncGenerator<ExecutionResult>,
  reply: FastifyReply,
  { format }: StreamOptions,
): Promise<void> {
  const response = beginEventStream(reply);
  response.write(':\n\n');
  const keepAlive = setInterval(() => writeBounded(response, ':\n\n'), KEEP_ALIVE_MS);
  response.once('close', () => void results.return(undefined));
  try {
    for await (const result of results) {
      const shown = result.errors === undefined ? result : format(result, reply.request).response;
      writeBounded(response, `event: next\n${idLine(result)}data: ${JSON.stringify(shown)}\n\n`);
    }
    writeBounded(response, 'event: complete\ndata:\n\n');
  } finally {
    clearInterval(keepAlive);
    response.end();
  }
}

/** The id from which the stream resumes, if the subscription selects the field. */
function idLine({ data }: ExecutionResult): string {
  const found = z.object({ events: z.object({ event: z.object({ id: z.string() }) }) }).safeParse(data);
  return found.success ? `id: ${found.data.events.event.id}\n` : '';
}
