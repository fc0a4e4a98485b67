/**
 * The agent's HTTP control server. Calls of the control plane carry the agent's control secret, and come over TLS from a worker
 * unless the agent is reached by the loopback; commands to a copy carry that copy's secret, and come over TLS from a node of
 * the cluster; `/livez`, `/readyz` and `/startupz` need none.
 */

import type { X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { TLSSocket } from 'node:tls';
import {
  checksumSchema,
  createReplicaSchema,
  openReplicaSchema,
  removeOrphanSchema,
  removeReplicaSchema,
  startEngineSchema,
} from '@holdfast/core/model/agent-protocol.js';
import { ENGINE_COMMANDS, isEngineCommand } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asksVerbose, type HealthCheck } from '@holdfast/core/model/health.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { idField } from '@holdfast/core/model/message-fields.js';
import { COMMAND_TRAITS, isCommandName } from '@holdfast/data-engine/protocol/commands.js';
import { isWorkerCertificate, readNodeCertificate } from '@holdfast/identity/certificate.js';
import type { NodeName } from '@holdfast/identity/names.js';
import type { SharedPorts } from '@holdfast/identity/shared-port.js';
import { addSpans } from '@holdfast/tracing/fastify-spans.js';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { mayCommand } from '../copy-access.js';
import type { Engines } from '../engines.js';
import type { Replicas } from '../replicas.js';
import { sameSecret } from '../secrets.js';
import { Verifications } from '../verifications.js';
import { COMMAND_SCHEMAS } from './command-schemas.js';
import { MessagePages, PAGE_CHARS, PAGES_MAX, REPLY_CHARS } from './message-pages.js';
import { problemOf } from './problems.js';

/** Maximum body in bytes. The longest valid one is a start with 64 copies; more is a mistake or an attack. */
const BODY_BYTES_MAX = 256 * 1024;

const uuid = z.string().uuid();
const replicaParams = z.object({ replicaId: uuid });
const volumeParams = z.object({ volumeId: idField<VolumeId>() });
const noSuchCommand = 'there is no such command';
const engineCommandParams = volumeParams.extend({
  name: z.string().refine(isEngineCommand, noSuchCommand),
});
const commandParams = replicaParams.extend({ name: z.string().refine(isCommandName, noSuchCommand) });
const pageParams = z.object({
  replicaId: uuid,
  messageId: uuid,
  page: z.coerce
    .number()
    .int()
    .min(0)
    .max(PAGES_MAX - 1),
});
const pageBody = z.object({
  count: z.number().int().min(1).max(PAGES_MAX),
  text: z.string().max(PAGE_CHARS),
});
const pagedBody = z.object({ pagedMessage: uuid });
const epochQuery = z.object({ epoch: z.coerce.number().int().min(0) });

export type ControlServerOptions = {
  replicas: Replicas;
  engines: Engines;
  controlSecret: string;
  /** Serve plain HTTP and TLS on the one control port. */
  ports: SharedPorts;
  /** The control plane is heard over TLS with a worker's certificate only, and engines with that of a node. */
  isTlsOnly: boolean;
  /** The cluster that this node belongs to. */
  ownCluster: () => string | undefined;
  isReady: () => boolean;
  log: Logger;
};

export function createControlServer(options: ControlServerOptions): FastifyInstance {
  const server = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    logger: false,
    serverFactory: (handler: RequestListener) => options.ports.make(handler),
  });
  addSpans(server, () => false);
  allowEmptyJson(server);
  server.setErrorHandler((error, _request, reply) => {
    const problem = problemOf(error);
    if (problem.status >= 500) options.log.error({ err: error }, 'a control call failed');
    const { status, ...body } = problem;
    return reply.status(status).send(body);
  });
  server.setNotFoundHandler(() => {
    throw new StorageFault('request.not_found', { publicMessage: 'there is no such call' });
  });
  healthRoutes(server, options);
  server.register(async (scope) => {
    scope.addHook('onRequest', async (request) => {
      if (options.isTlsOnly) requireWorker(request);
      if (!sameSecret(bearerOf(request), options.controlSecret)) throw wrongSecret();
    });
    replicaRoutes(scope, options);
    engineRoutes(scope, options);
  });
  server.register(async (scope) => {
    scope.addHook('onRequest', async (request) => {
      if (options.isTlsOnly) requireNode(request, options.ownCluster());
    });
    commandRoute(scope, options);
  });
  return server;
}

/** It listens once its copies are found and its volumes can be reached, so a process that has started was ready. */
function healthRoutes(server: FastifyInstance, { isReady }: ControlServerOptions): void {
  let wasReady = false;
  const route = (path: string, word: string, isWell: () => boolean) =>
    server.get(path, ({ url }, reply) => {
      const isThere = isWell();
      const check: HealthCheck = { name: 'agent', status: isThere ? 'ok' : 'failed' };
      const listed = asksVerbose(url) ? { checks: [check] } : {};
      return reply.status(isThere ? 200 : 503).send({ status: isThere ? 'ok' : word, ...listed });
    });
  route('/livez', '', () => true);
  route('/readyz', 'unavailable', isReady);
  route('/startupz', 'starting', () => {
    wasReady ||= isReady();
    return wasReady;
  });
}

/** @throws StorageFault `auth.forbidden` unless it came from a worker of this control plane */
function requireWorker(request: FastifyRequest): void {
  const certificate = peerOf(request);
  if (certificate !== undefined && isWorkerCertificate(certificate)) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: "this call is taken over TLS with a worker's certificate only",
  });
}

/** @throws StorageFault `auth.forbidden` unless it came from a node of this agent's cluster */
function requireNode(request: FastifyRequest, ownCluster: string | undefined): void {
  const node = callerOf(request);
  if (node !== undefined && node.clusterId === ownCluster) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: 'this call is taken over TLS with the certificate of a node of this cluster only',
  });
}

/** The node that the caller's certificate names. */
function callerOf(request: FastifyRequest): NodeName | undefined {
  const certificate = peerOf(request);
  return certificate === undefined ? undefined : readNodeCertificate(certificate);
}

/** The certificate of who calls, if it is of this control plane and good now: a connection may outlive it. */
function peerOf({ raw: { socket } }: FastifyRequest): X509Certificate | undefined {
  const shown =
    socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  return shown !== undefined && new Date(shown.validTo) > new Date() ? shown : undefined;
}

function replicaRoutes(scope: FastifyInstance, { replicas }: ControlServerOptions): void {
  scope.post('/v1/replicas', async ({ body }) => {
    await replicas.create(check(createReplicaSchema, body));
    return {};
  });
  scope.get('/v1/replicas/:replicaId', ({ params }) =>
    replicas.describeState(check(replicaParams, params).replicaId),
  );
  scope.get('/v1/replicas/:replicaId/description', ({ params }) =>
    replicas.describeCopy(check(replicaParams, params).replicaId),
  );
  scope.delete('/v1/replicas/:replicaId', async ({ params, body }) => {
    const stated = body === undefined || body === null ? undefined : check(removeReplicaSchema, body);
    await replicas.remove(check(replicaParams, params).replicaId, stated);
    return {};
  });
  scope.post('/v1/replicas/:replicaId/remove-orphan', async ({ params, body }) => {
    await replicas.removeOrphan(check(replicaParams, params).replicaId, check(removeOrphanSchema, body));
    return {};
  });
  scope.post('/v1/replicas/:replicaId/open', ({ params, body }) => {
    return replicas.openAt(check(replicaParams, params).replicaId, check(openReplicaSchema, body));
  });
  const verifications = new Verifications((replicaId, limit) => replicas.checksum(replicaId, limit));
  scope.post('/v1/replicas/:replicaId/checksum', async ({ params, body }) => {
    const { replicaId } = check(replicaParams, params);
    const { verification, bytesPerSecondMax } = check(checksumSchema, body ?? {});
    if (verification === undefined) return replicas.checksum(replicaId);
    return (await verifications.ask(replicaId, verification, bytesPerSecondMax)) ?? { running: true };
  });
}

function engineRoutes(scope: FastifyInstance, { engines }: ControlServerOptions): void {
  scope.put('/v1/engines/:volumeId', ({ params, body }) =>
    engines.start(check(volumeParams, params).volumeId, check(startEngineSchema, body)),
  );
  scope.delete('/v1/engines/:volumeId', async ({ params, query }) => {
    await engines.stop(check(volumeParams, params).volumeId, check(epochQuery, query).epoch);
    return {};
  });
  scope.post('/v1/engines/:volumeId/commands/:name', async ({ params, body }) => {
    const { volumeId, name } = check(engineCommandParams, params);
    return { reply: await engines.command(volumeId, name, check(ENGINE_COMMANDS[name].ask, body)) };
  });
}

/** Route of replica commands. Engines and rebuild targets on any node of the cluster use it, with a secret of that copy. */
function commandRoute(server: FastifyInstance, { replicas }: ControlServerOptions): void {
  const useOf = (request: FastifyRequest, replicaId: string) =>
    replicas.useOf(replicaId, bearerOf(request), callerOf(request)?.nodeId);
  const asked = new MessagePages();
  const answers = new MessagePages(REPLY_CHARS);
  server.post('/v1/replicas/:replicaId/commands/:name', async (request) => {
    const { replicaId, name } = check(commandParams, request.params);
    // A missing copy and a wrong secret must look the same to a caller without the secret. A copy that can't be read has lost its
    // secret: every caller gets the reason, because its engine needs it, and nothing more.
    const use = useOf(request, replicaId);
    if (use === undefined) throw replicas.damageOf(replicaId) ?? wrongSecret();
    const paged = pagedBody.safeParse(request.body);
    const body = paged.success ? asked.whole(paged.data.pagedMessage) : request.body;
    const ask = check(COMMAND_SCHEMAS[name], body);
    if (!mayCommand(use, name, ask.epoch)) throw wrongSecret();
    const reply = await replicas.command(replicaId, name, ask);
    if (COMMAND_TRAITS[name].replyLength === 'bounded') return { reply };
    const text = JSON.stringify(reply);
    return text.length > REPLY_CHARS ? { pagedReply: answers.offer(text) } : { reply };
  });
  server.post('/v1/replicas/:replicaId/messages/:messageId/:page', async (request) => {
    const { replicaId, messageId, page } = check(pageParams, request.params);
    if (useOf(request, replicaId) === undefined) throw wrongSecret();
    const { count, text } = check(pageBody, request.body);
    asked.take(messageId, page, count, text);
    return {};
  });
  server.post('/v1/replicas/:replicaId/replies/:messageId/:page', async (request) => {
    const { replicaId, messageId, page } = check(pageParams, request.params);
    if (useOf(request, replicaId) === undefined) throw wrongSecret();
    return { text: answers.page(messageId, page) };
  });
}

function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = parsed.error.issues
    .map(({ path, message: what }) => `${path.join('.') || 'body'}: ${what}`)
    .join('; ');
  throw new StorageFault('request.invalid', { publicMessage: message.slice(0, 2000) });
}

function bearerOf(request: FastifyRequest): string {
  const { authorization } = request.headers;
  return authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : '';
}

function wrongSecret(): StorageFault {
  return new StorageFault('auth.invalid', { publicMessage: 'the secret is missing or wrong' });
}

/** Accepts an empty body that is declared as JSON: some calls have no body, and clients set the header all the same. */
function allowEmptyJson(server: FastifyInstance): void {
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const text = body.toString();
    try {
      done(null, text === '' ? undefined : JSON.parse(text));
    } catch {
      done(new StorageFault('request.invalid', { publicMessage: 'the body is not JSON' }), undefined);
    }
  });
}
