import type { IncomingMessage, RequestListener } from 'node:http';
import cookie from '@fastify/cookie';
import { systemRandom } from '@holdfast/database/clock-and-random.js';
import { sharedPorts } from '@holdfast/identity/shared-port.js';
import { addSpans } from '@holdfast/tracing/fastify-spans.js';
import { errorSerializers } from '@holdfast/tracing/source-positions.js';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { type Logger, pino } from 'pino';
import { AgentAuthenticator } from '../access/agent-authenticator.js';
import { Authenticator } from '../access/authenticator.js';
import { isOverTls } from '../access/cookies.js';
import { RefusedWrites } from '../access/refused-writes.js';
import type { Config } from '../config/config.js';
import { registerGraphql } from '../graphql/graphql-plugin.js';
import { callerGone } from '../http/caller-gone.js';
import { answerClientError } from '../http/client-errors.js';
import { Databases } from '../http/databases.js';
import { drainLargeBody } from '../http/drain-large-body.js';
import { addDraining, type Draining } from '../http/draining.js';
import { addEntityTags } from '../http/entity-tags.js';
import { loggedAddress } from '../http/logged-address.js';
import { refuseOtherMethods } from '../http/other-methods.js';
import { trustedHops, withoutUnproven } from '../http/proxy-trust.js';
import { requireReadable } from '../http/readable-request.js';
import { sendProblem } from '../http/send-problem.js';
import { traceIdOf } from '../http/trace-id.js';
import { serveDocumentation } from '../openapi/documentation-page.js';
import { EventStreams } from '../resources/events/event-streams.js';
import { OpenStreams } from '../resources/events/open-streams.js';
import { OperationWaits } from '../resources/operations/operation-waits.js';
import { OrphansService } from '../resources/orphans/orphans.service.js';
import { PlacementsService } from '../resources/placements/placements.service.js';
import { RebuildsService } from '../resources/rebuilds/rebuilds.service.js';
import { RecurringSnapshotsService } from '../resources/snapshots/recurring-snapshots.service.js';
import { SnapshotsService } from '../resources/snapshots/snapshots.service.js';
import { VolumesService } from '../resources/volumes/volumes.service.js';
import { appModule, CONTROLLERS } from './app.module.js';
import { ApiMetrics } from './metrics/api-metrics.js';
import { serveMetrics } from './metrics/serve-metrics.js';

/** A user's request is a few fields. */
const BODY_BYTES_MAX = 256 * 1024;
/** A heartbeat lists everything on a node: up to ten thousand replicas at about 300 bytes each, and their engines. */
const HEARTBEAT_BYTES_MAX = 8 * 1024 * 1024;
const HEARTBEAT = '/api/v1/agent/heartbeat';
const REQUEST_ID = /^[\w.-]{1,128}$/;

export type App = { nest: NestFastifyApplication; fastify: FastifyInstance; draining: Draining };

/** Builds the whole API without listening. */
export async function createApp(config: Config): Promise<App> {
  const logger: Logger = pino({
    level: config.logLevel,
    base: { name: 'api' },
    serializers: errorSerializers,
  });
  const ports = sharedPorts();
  const adapter = new FastifyAdapter({
    // Users over HTTP and agents over TLS on one port.
    serverFactory: (handler: RequestListener) => ports.make(withoutUnproven(handler, config)),
    loggerInstance: logger,
    bodyLimit: BODY_BYTES_MAX,
    // A request on an idle connection that arrives during the shutdown is answered normally: the database is released after the last
    // answer.
    return503OnClosing: false,
    // A user's address is the right-most one in the chain of proxies that is no trusted proxy's.
    trustProxy: trustedHops(config),
    // One line per request, written by the hook below, with the status and the time it took.
    logController: new LogController({ disableRequestLogging: true }),
    // Requests that are refused before routing: an incomplete escape, a part that is too long.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(error, request, reply.headers(headersOf(request, config))),
    clientErrorHandler: answerClientError,
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : systemRandom.id();
    },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  // Agents make so many calls that only those of a trace get spans.
  addSpans(fastify, isOfUsers);
  addHooks(fastify, config);
  refuseOtherMethods(fastify);
  const draining = addDraining(fastify, () => nest.get(OperationWaits).endAll());
  const nest = await NestFactory.create<NestFastifyApplication>(
    appModule({ config, logger, ports }),
    adapter,
    {
      logger: false,
      abortOnError: false,
      // Nest would read forms as well, which any other site's page can send without a preflight.
      bodyParser: false,
    },
  );
  // JSON and nothing else: all other types are 415.
  fastify.removeContentTypeParser('text/plain');
  await nest.register(cookie);
  requireAgentFirst(fastify, nest.get(AgentAuthenticator));
  const [streams, databases] = [nest.get(OpenStreams), nest.get(Databases)];
  const metrics = new ApiMetrics({ streams: () => streams.openCount, slots: () => databases.load });
  fastify.addHook('onResponse', async (request, reply) => metrics.answered(request, reply));
  serveMetrics(fastify, metrics, config.metricsToken);
  serveOpenApi(fastify);
  serveDocumentation(fastify);
  await registerGraphql(fastify, nest.get(Authenticator), {
    volumes: nest.get(VolumesService),
    rebuilds: nest.get(RebuildsService),
    placements: nest.get(PlacementsService),
    snapshots: nest.get(SnapshotsService),
    recurring: nest.get(RecurringSnapshotsService),
    orphans: nest.get(OrphansService),
    refused: nest.get(RefusedWrites),
    streams: nest.get(EventStreams),
    controllerOf: (controller) => nest.get(controller),
    introspection: config.graphqlIntrospection,
  });
  await nest.init();
  await fastify.ready();
  return { nest, fastify, draining };
}

/** Before the body of a heartbeat is read: only an agent with a certificate may have this process buffer and parse so much. */
function requireAgentFirst(fastify: FastifyInstance, agents: AgentAuthenticator): void {
  fastify.addHook('preParsing', async (request, reply) => {
    if (request.routeOptions.url !== HEARTBEAT) return;
    try {
      request.agent = await agents.requireAgent(request);
    } catch (error) {
      return sendProblem(error, request, reply);
    }
  });
}

/** An answer is data: browsers must not run, frame or cache anything of it. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};
const TLS_HEADERS = { ...HEADERS, 'strict-transport-security': 'max-age=31536000; includeSubDomains' };

/** From the route, not from the text of the address: `/%61pi/v1/tokens` and `http://any.example/api/v1/tokens` lead to it as well. */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url;
}

/** Is it a request of users or their programs, not of agents or probes? */
function isOfUsers(request: FastifyRequest): boolean {
  const path = pathOf(request);
  return path.startsWith('/graphql') || (path.startsWith('/api/') && !path.startsWith('/api/v1/agent/'));
}

function headersOf(request: FastifyRequest, config: Config): Record<string, string> {
  const isData = /^\/(?:api|graphql)/.test(pathOf(request));
  return {
    'x-request-id': request.id,
    ...(isOverTls(request, config) ? TLS_HEADERS : HEADERS),
    ...(isData ? { 'cache-control': 'no-store' } : {}),
  };
}

function addHooks(fastify: FastifyInstance, config: Config): void {
  fastify.addHook('onRoute', (route) => {
    if (route.url === HEARTBEAT) route.bodyLimit = HEARTBEAT_BYTES_MAX;
  });
  fastify.addHook('onRequest', async (request, reply) => {
    void reply.headers(headersOf(request, config));
    request.callerGone = () => callerGone(reply.raw);
    await drainLargeBody(request);
  });
  addEntityTags(fastify);
  fastify.addHook('preValidation', requireReadable);
  fastify.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    const quiet = reply.statusCode < 400 && !isOfUsers(request);
    const { tenant, agent } = request;
    const line = {
      requestId: request.id,
      traceId: traceIdOf(request),
      organizationId: (tenant?.actor ?? agent)?.organizationId,
      userId: tenant?.actor.userId,
      tokenId: tenant?.actor.tokenId,
      nodeId: agent?.nodeId,
      method,
      url: loggedAddress(request.url, request.routeOptions.url),
      status: reply.statusCode,
      refusal: request.refusal,
      ms: Math.round(reply.elapsedTime),
    };
    if (quiet) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  });
}

/** The document is built at the first request: most processes never serve it. */
function serveOpenApi(fastify: FastifyInstance): void {
  let document: Promise<object> | undefined;
  fastify.get('/api/v1/openapi.json', () => {
    document ??= import('../openapi/openapi.js').then(({ openApiDocument }) => openApiDocument(CONTROLLERS));
    return document;
  });
}
