/**
 * The agent's way to the control plane: always over TLS, to the authority that its join token or its certificate names, and
 * with the node's own certificate, which it gets when it joins and renews when half of its life is over.
 */
import fs from 'node:fs/promises';
import https from 'node:https';
import { joinReplySchema } from '@holdfast/core/model/agent-join.js';
import {
  AGENT_PROTOCOL_VERSION,
  type Heartbeat,
  type HeartbeatRepeat,
} from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { lifeOf } from '@holdfast/identity/certificate.js';
import { parseJoinToken } from '@holdfast/identity/join-token.js';
import { CONTROL_PLANE_NAME } from '@holdfast/identity/names.js';
import type { SharedPorts } from '@holdfast/identity/shared-port.js';
import type { Logger } from 'pino';
import type { AgentConfig } from '../config.js';
import { type JsonAnswer, overTls, postJson } from '../json-http.js';
import { authorityOf } from './first-contact.js';
import { IdentityFolder, type StoredIdentity } from './stored-identity.js';
import { isWrongAuthority, tlsTrouble } from './tls-trouble.js';

const JOIN_TIMEOUT_MS = 10_000;
/** Pause between two tries to renew a certificate that is still good. */
const RENEWAL_PAUSE_MS = 60_000;

type Config = Pick<AgentConfig, 'apiUrl' | 'joinToken' | 'nodeName' | 'stateDirectory'>;

export class ControlPlane {
  private identity: StoredIdentity | undefined;
  private connections: https.Agent | undefined;
  /** The control plane has said that it does not believe the certificate. */
  private isRefused = false;
  private nextRenewalMs = 0;
  private readonly apiUrl: string;

  /** @param ports serve with the node's certificate from when there is one */
  static async open(
    config: Config,
    controlSecret: string,
    ports: SharedPorts,
    log: Logger,
  ): Promise<ControlPlane> {
    const folder = await IdentityFolder.open(config.stateDirectory);
    const controlPlane = new ControlPlane(config, controlSecret, folder, ports, log);
    const identity = await folder.read();
    if (identity !== undefined) controlPlane.use(identity);
    return controlPlane;
  }

  private constructor(
    private readonly config: Config,
    private readonly controlSecret: string,
    private readonly folder: IdentityFolder,
    private readonly ports: SharedPorts,
    private readonly log: Logger,
  ) {
    this.apiUrl = overTls(config.apiUrl);
  }

  /** The cluster that the node belongs to; `undefined`: it has not joined yet. */
  get clusterId(): string | undefined {
    return this.identity?.clusterId;
  }

  /** This node's id; `undefined`: it has not joined yet. */
  get nodeId(): string | undefined {
    return this.identity?.nodeId;
  }

  /** Sends a heartbeat; joins or renews first where that is due. */
  report(heartbeat: Heartbeat, timeoutMs: number): Promise<JsonAnswer> {
    return this.say('agent/heartbeat', heartbeat, timeoutMs);
  }

  /** Says that the last heartbeat holds; joins or renews first as well. */
  repeat(repeat: HeartbeatRepeat, timeoutMs: number): Promise<JsonAnswer> {
    return this.say('agent/heartbeat/repeat', repeat, timeoutMs);
  }

  private async say(path: string, body: Heartbeat | HeartbeatRepeat, timeoutMs: number): Promise<JsonAnswer> {
    await this.prepare();
    try {
      return await this.call(path, body, timeoutMs);
    } catch (error) {
      if (!isWrongAuthority(error)) throw error;
      // A control plane that was made anew has another authority. It is believed only where a join token names it.
      await this.rejoin(this.identity);
      return this.call(path, body, timeoutMs);
    }
  }

  /** @throws StorageFault `agent.unreachable` when there is no answer, or the agent has not joined yet */
  async call(path: string, body: unknown, timeoutMs: number): Promise<JsonAnswer> {
    if (this.identity === undefined) {
      throw new StorageFault('agent.unreachable', {
        publicMessage: 'this agent has not joined a cluster yet',
      });
    }
    this.connections ??= connectionsOf(this.identity.authorities, this.identity);
    const answer = await this.send(path, body, timeoutMs, this.connections);
    if (codeOf(answer.body) === 'node.identity_refused') this.isRefused = true;
    return answer;
  }

  private async prepare(): Promise<void> {
    const { identity } = this;
    if (identity === undefined || this.isRefused) return this.rejoin(identity);
    const nowMs = Date.now();
    if (nowMs < identity.receivedAtMs + identity.lifeMs / 2 || nowMs < this.nextRenewalMs) return;
    this.nextRenewalMs = nowMs + Math.min(RENEWAL_PAUSE_MS, identity.lifeMs / 20);
    try {
      await this.obtain({ keyPem: identity.keyPem, authorities: identity.authorities });
    } catch (error) {
      if (nowMs > identity.receivedAtMs + identity.lifeMs) return this.rejoin(identity);
      this.log.warn({ error: String(error) }, 'the certificate is not renewed; trying again');
    }
  }

  /** By the key where it is known, else with the join token and a new key. */
  private async rejoin(identity: StoredIdentity | undefined): Promise<void> {
    const token = await this.token();
    if (identity !== undefined) {
      try {
        return await this.obtain({ keyPem: identity.keyPem, authorities: identity.authorities });
      } catch (error) {
        const isDenied = error instanceof JoinDenied || isWrongAuthority(error);
        if (!isDenied || token?.fingerprint === undefined) throw error;
      }
    }
    if (token === undefined)
      throw new Error('this agent has not joined a cluster: HOLDFAST_AGENT_TOKEN must be a join token');
    const { secret, fingerprint } = token;
    if (fingerprint === undefined) {
      throw new Error(
        'HOLDFAST_AGENT_TOKEN is no join token: it must end in the fingerprint of its control plane',
      );
    }
    const { makeKey } = await import('@holdfast/identity/request.js');
    const authorities = [await authorityOf(this.apiUrl, fingerprint)];
    await this.obtain({ keyPem: await this.folder.nextKey(makeKey), authorities, token: secret });
  }

  /** @throws JoinDenied when the control plane says no */
  private async obtain(with_: { keyPem: string; authorities: string[]; token?: string }): Promise<void> {
    const { keyPem, authorities, token } = with_;
    // Loaded when it is needed, and not by agents that run on the certificate that they have.
    const { makeRequest } = await import('@holdfast/identity/request.js');
    const { nodeName: name } = this.config;
    const asked = {
      name,
      request: await makeRequest(keyPem, name),
      ...(token === undefined ? {} : { token }),
      controlSecret: this.controlSecret,
      clock: new Date().toISOString(),
      protocol: AGENT_PROTOCOL_VERSION,
    };
    const { status, body } = await this.send(
      'agent/identity',
      asked,
      JOIN_TIMEOUT_MS,
      connectionsOf(authorities),
    );
    if (status >= 400 && status < 500) throw new JoinDenied(status, body);
    if (status !== 200)
      throw new Error(`the control plane answered ${status} to a request for a certificate`);
    const { certificate: certificatePem, ...reply } = joinReplySchema.parse(body);
    const receivedAtMs = Date.now();
    const lifeMs = lifeOf(certificatePem).notAfter.getTime() - receivedAtMs;
    const identity = { ...reply, keyPem, certificatePem, receivedAtMs, lifeMs };
    await this.folder.write(identity);
    this.use(identity);
    this.log.info({ nodeId: reply.nodeId, hours: lifeMs / 3_600_000 }, 'the agent has a certificate');
  }

  private use(identity: StoredIdentity): void {
    this.identity = identity;
    // Calls under way end on their own connections.
    this.connections = undefined;
    this.isRefused = false;
    const { certificatePem: cert, keyPem: key, authorities: ca } = identity;
    this.ports.setCertificate({ cert, key, ca });
  }

  private async send(
    path: string,
    body: unknown,
    timeoutMs: number,
    connections: https.Agent,
  ): Promise<JsonAnswer> {
    try {
      return await postJson(`${this.apiUrl}/${path}`, undefined, body, timeoutMs, connections);
    } catch (error) {
      throw tlsTrouble(error, this.apiUrl) ?? error;
    }
  }

  private async token(): Promise<{ secret: string; fingerprint: string | undefined } | undefined> {
    const { joinToken } = this.config;
    if (joinToken === undefined) return undefined;
    const text = 'text' in joinToken ? joinToken.text : await fs.readFile(joinToken.file, 'utf8');
    return parseJoinToken(text.trim());
  }
}

/** The control plane's answer to a request for a certificate, where it is no. */
class JoinDenied extends Error {
  constructor(status: number, body: unknown) {
    const problem = typeof body === 'object' && body !== null ? body : {};
    const detail = 'detail' in problem ? String(problem.detail) : `the control plane answered ${status}`;
    const cures = 'cures' in problem && Array.isArray(problem.cures) ? ` (${problem.cures.join('; ')})` : '';
    super(`the agent can not join: ${detail}${cures}`);
  }
}

function codeOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
}

function connectionsOf(authorities: string[], identity?: StoredIdentity): https.Agent {
  return new https.Agent({
    keepAlive: true,
    maxSockets: 16,
    maxFreeSockets: 2,
    maxCachedSessions: 0,
    ca: authorities,
    servername: CONTROL_PLANE_NAME,
    ...(identity === undefined ? {} : { cert: identity.certificatePem, key: identity.keyPem }),
  });
}
