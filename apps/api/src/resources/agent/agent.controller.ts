/**
 * The agents' part of the API. Agents are not users: each is one node of one cluster, and the work runs as the system role,
 * because a cluster's space and limits concern all of its users.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, isId, type NodeId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { joinNode } from '@holdfast/database/identity/node-identities.js';
import { snapshot } from '@holdfast/database/sql/scope.js';
import { recordRepeats } from '@holdfast/database/store/heartbeat-repeats.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { readRequest } from '@holdfast/identity/authority.js';
import { parseJoinToken } from '@holdfast/identity/join-token.js';
import { Body, Controller, Get, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AgentActor } from '../../access/actor.js';
import { AgentAuthenticator, requireTls } from '../../access/agent-authenticator.js';
import { CurrentAgent } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { CONFIG } from '../../http/tokens.js';
import { volumeNotFound } from '../volumes/read-volume.js';
import {
  AgentVolumePath,
  AuthoritiesDto,
  ConfirmRecordBody,
  HeartbeatBody,
  HeartbeatRepeatBody,
  HeartbeatRepeatReplyDto,
  HeartbeatReplyDto,
  JoinBody,
  JoinReplyDto,
  RecordConfirmedDto,
} from './agent.schemas.js';
import { AgentAddresses } from './agent-addresses.js';
import { AgentCertificates } from './agent-certificates.js';
import { RepeatBatcher } from './repeat-batcher.js';

const HOUR_MS = 3_600_000;
/** Share of the heartbeat interval for which an unchanged heartbeat waits to be batched. The agent's pause is shorter by it. */
const BATCH_WINDOW = 0.1;

@Controller('api/v1/agent')
export class AgentController {
  private readonly store: PostgresStore;
  private readonly addresses: AgentAddresses;
  private readonly repeats: RepeatBatcher;

  constructor(
    private readonly databases: Databases,
    private readonly certificates: AgentCertificates,
    private readonly authenticator: AgentAuthenticator,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.store = new PostgresStore(databases.agents());
    this.addresses = new AgentAddresses(config.agentNetworks);
    this.repeats = new RepeatBatcher(
      (repeats) => recordRepeats(databases.agents(), repeats),
      config.heartbeatIntervalMs * BATCH_WINDOW,
    );
  }

  @Get('authorities')
  @Route({
    access: 'public',
    summary: "List the certificate authorities of this control plane's agent endpoint",
    answer: AuthoritiesDto,
  })
  async authorities() {
    return { authorities: [...(await this.certificates.trusted())] };
  }

  @Post('identity')
  @Route({
    access: 'public',
    summary: "Get or renew the certificate of a node's agent",
    answer: JoinReplyDto,
    refuses: [
      'auth.forbidden',
      'join_token.refused',
      'node.name_taken',
      'node.identity_refused',
      'node.clock_off',
      'node.agent_newer',
      'node.agent_older',
    ],
  })
  async join(@Req() request: FastifyRequest, @Body() body: JoinBody) {
    // A join token must not travel in clear.
    requireTls(request);
    const key = await readRequest(body.request);
    if (key === undefined) throw noRequest();
    const now = systemClock.now();
    const notAfter = new Date(now.getTime() + this.config.nodeCertificateHours * HOUR_MS);
    const { nodeId, clusterId } = await joinNode(this.databases.agents(), {
      name: body.name,
      keyHash: key.keyHash,
      tokenSecret: body.token === undefined ? undefined : parseJoinToken(body.token).secret,
      controlSecret: body.controlSecret,
      agentClock: new Date(body.clock),
      protocol: body.protocol,
      now,
      notAfter,
    });
    const certificate = await this.certificates.sign({ nodeId, clusterId, name: body.name }, key, {
      now,
      notAfter,
    });
    return { nodeId, clusterId, certificate, authorities: [...(await this.certificates.trusted())] };
  }

  @Post('heartbeat')
  @Route({
    access: 'agent',
    summary: 'Report a node with its disks, copies and engines',
    answer: HeartbeatReplyDto,
    refuses: [
      'cluster.not_found',
      'node.name_taken',
      'node.address_refused',
      'node.agent_newer',
      'node.agent_older',
    ],
  })
  async heartbeat(
    @CurrentAgent() agent: AgentActor,
    @Req() request: FastifyRequest,
    @Body() heartbeat: HeartbeatBody,
  ) {
    if (heartbeat.node.name !== agent.name) {
      throw new StorageFault('auth.forbidden', {
        publicMessage: `this agent is node ${agent.name} and can not report for ${heartbeat.node.name}`,
      });
    }
    const checked = await this.addresses.checked(heartbeat, request.raw.socket.remoteAddress ?? '');
    const stored = await this.store.recordHeartbeat(agent.clusterId, checked, undefined, agent.nodeId);
    return { ...stored, intervalMs: this.config.heartbeatIntervalMs };
  }

  @Post('heartbeat/repeat')
  @Route({
    access: 'agent',
    comparesIdentity: true,
    summary: 'Report that the last heartbeat still holds',
    answer: HeartbeatRepeatReplyDto,
    refuses: ['node.address_refused'],
  })
  async repeat(@Req() request: FastifyRequest, @Body() body: HeartbeatRepeatBody) {
    const receivedAtMs = performance.now();
    const ageMs = () => performance.now() - receivedAtMs;
    const { nodeId, clusterId, keyHash } = this.authenticator.shownBy(request);
    const controlUrl = await this.addresses.checkedUrl(body, request.raw.socket.remoteAddress ?? '');
    const ids = { nodeId: asId<NodeId>(nodeId), clusterId: asId<ClusterId>(clusterId) };
    const stored = isId(nodeId)
      ? await this.repeats.add({ ...body, ...ids, keyHash, controlUrl, ageMs })
      : undefined;
    // An agent that is no longer trusted is refused at once, with the reason.
    if (stored === undefined) await this.authenticator.requireAgent(request);
    const intervalMs = Math.max(1, Math.round(this.config.heartbeatIntervalMs - ageMs()));
    return { isEnough: stored !== undefined, intervalMs, stamps: stored?.stamps ?? [] };
  }

  @Post('volumes/:volumeId/record')
  @Route({
    access: 'agent',
    summary: "Record a volume's reduced members",
    answer: RecordConfirmedDto,
    refuses: ['volume.not_found', 'engine.stale_epoch', 'engine.record_refused'],
  })
  async confirmRecord(
    @CurrentAgent() agent: AgentActor,
    @Param() { volumeId }: AgentVolumePath,
    @Body() { record, grantId }: ConfirmRecordBody,
  ) {
    // The system role sees every cluster; the agent speaks for its own only.
    const { rowCount } = await snapshot(this.databases.agents(), (sql) =>
      sql.query('SELECT FROM volume WHERE id = $1 AND cluster_id = $2', [volumeId, agent.clusterId]),
    );
    if (rowCount === 0) throw volumeNotFound(volumeId);
    await this.store.confirmRecord(volumeId, record, grantId, agent.nodeId);
    return { recorded: true };
  }
}

function noRequest(): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: 'request must be a PKCS #10 request of a P-256 key, signed by that key',
    errors: [
      { pointer: '/request', detail: 'must be a PKCS #10 request of a P-256 key, signed by that key' },
    ],
  });
}
