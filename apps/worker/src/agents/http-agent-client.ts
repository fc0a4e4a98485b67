import type { AgentClient, AgentTarget } from '@holdfast/control/ports/agent-client.js';
import { START_CALL_MS_MAX } from '@holdfast/core/admission/plan-admissions.js';
import {
  agentProblemSchema,
  type ChecksumReply,
  type CreateReplica,
  checksumReplySchema,
  type OpenReplica,
  type OpenReplicaReply,
  openReplicaReplySchema,
  type RemoveOrphan,
  type ReplicaState,
  replicaStateSchema,
  type StartEngine,
  type StartEngineReply,
  startEngineReplySchema,
  verificationReplySchema,
} from '@holdfast/core/model/agent-protocol.js';
import { type CopyDescription, copyDescriptionSchema } from '@holdfast/core/model/copy-description.js';
import type { RemovalClaim } from '@holdfast/core/model/copy-removal.js';
import {
  ENGINE_COMMANDS,
  type EngineCommandName,
  type EngineReply,
  type EngineRequest,
  engineAnswerSchema,
} from '@holdfast/core/model/engine-commands.js';
import { faultCodeOf, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { hostOf, isLoopback, nodeDnsName } from '@holdfast/identity/names.js';
import { currentTraceparent, inSpan } from '@holdfast/tracing/spans.js';
import { Agent, type Dispatcher, errors, request } from 'undici';
import type { z } from 'zod';
import { AgentCircuits, SilenceError } from './agent-circuits.js';
import { withinLimit } from './within-limit.js';
import type { TlsIdentity } from './worker-certificate.js';

export type AgentTimeouts = { callMs: number; engineMs: number; checksumMs: number };

const TIMEOUTS: AgentTimeouts = {
  /** A healthy agent answers in milliseconds; what does not within this is treated as unreachable. */
  callMs: 5_000,
  /** Starting and stopping an engine opens copies on several nodes and flushes what is in flight. */
  engineMs: START_CALL_MS_MAX,
  /** A checksum reads a whole copy: at 100 MB/s this covers 1 TB of written data. */
  checksumMs: 3 * 3_600_000,
};
/**
 * A lost first packet is sent again after one second, and after three. A connection that is not established by then goes to a node
 * that is off or cut off; without this limit the kernel keeps trying for more than two minutes.
 */
const CONNECT_MS_MAX = 3_500;
/** The largest answer is an engine's report; a longer one does not come from an agent. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  timeoutMs: number;
};

/** Without limits for answers (undici gives up after 300 s without one): each call has its own timeout. */
const LIMITS = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS_MAX } };

type Way = { url: URL; dispatcher: Agent; headers: Record<string, string> };

/** Control calls to agents over HTTP, as `agent-protocol.ts` in core describes them. */
export class HttpAgentClient implements AgentClient {
  private readonly connections = new Agent(LIMITS);
  private secure: { identity: TlsIdentity; connections: Agent } | undefined;
  private readonly circuits = new AgentCircuits((controlUrl, limitMs) => this.answers(controlUrl, limitMs));

  /** @param certificate what agents on other machines are called with; left out: none can be called */
  constructor(
    private readonly timeouts: AgentTimeouts = TIMEOUTS,
    private readonly certificate?: () => Promise<TlsIdentity>,
  ) {}

  /** Aborts all pending calls. */
  async close(): Promise<void> {
    await Promise.all([this.connections.destroy(), this.secure?.connections.destroy()]);
  }

  async createReplica(agent: AgentTarget, replica: CreateReplica): Promise<void> {
    const { callMs: timeoutMs } = this.timeouts;
    await this.send(agent, { method: 'POST', path: '/v1/replicas', body: replica, timeoutMs });
  }

  describeReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ReplicaState> {
    const { callMs: timeoutMs } = this.timeouts;
    const path = `/v1/replicas/${replicaId}`;
    return this.ask(agent, { method: 'GET', path, timeoutMs }, replicaStateSchema);
  }

  describeCopy(agent: AgentTarget, replicaId: ReplicaId): Promise<CopyDescription> {
    const { callMs: timeoutMs } = this.timeouts;
    const path = `/v1/replicas/${replicaId}/description`;
    return this.ask(agent, { method: 'GET', path, timeoutMs }, copyDescriptionSchema);
  }

  async deleteReplica(agent: AgentTarget, replicaId: ReplicaId, claim?: RemovalClaim): Promise<void> {
    const { callMs: timeoutMs } = this.timeouts;
    const path = `/v1/replicas/${replicaId}`;
    const stated = claim === undefined ? {} : { body: claim };
    await this.send(agent, { method: 'DELETE', path, timeoutMs, ...stated });
  }

  async removeOrphan(agent: AgentTarget, replicaId: ReplicaId, orphan: RemoveOrphan): Promise<void> {
    const { callMs: timeoutMs } = this.timeouts;
    const path = `/v1/replicas/${replicaId}/remove-orphan`;
    await this.send(agent, { method: 'POST', path, body: orphan, timeoutMs });
  }

  openReplica(agent: AgentTarget, replicaId: ReplicaId, body: OpenReplica): Promise<OpenReplicaReply> {
    const { callMs: timeoutMs } = this.timeouts;
    const path = `/v1/replicas/${replicaId}/open`;
    return this.ask(agent, { method: 'POST', path, body, timeoutMs }, openReplicaReplySchema);
  }

  checksumReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ChecksumReply>;
  checksumReplica(
    agent: AgentTarget,
    replicaId: ReplicaId,
    verification: string,
    bytesPerSecondMax?: number,
  ): Promise<ChecksumReply | undefined>;
  async checksumReplica(
    agent: AgentTarget,
    replicaId: ReplicaId,
    verification?: string,
    bytesPerSecondMax?: number,
  ): Promise<ChecksumReply | undefined> {
    const { callMs, checksumMs } = this.timeouts;
    const call = { method: 'POST' as const, path: `/v1/replicas/${replicaId}/checksum` };
    if (verification === undefined) {
      return this.ask(agent, { ...call, body: {}, timeoutMs: checksumMs }, checksumReplySchema);
    }
    const started = { ...call, body: { verification, bytesPerSecondMax }, timeoutMs: callMs };
    const reply = await this.ask(agent, started, verificationReplySchema);
    return 'running' in reply ? undefined : reply;
  }

  startEngine(agent: AgentTarget, volumeId: VolumeId, engine: StartEngine): Promise<StartEngineReply> {
    const { engineMs: timeoutMs } = this.timeouts;
    const path = `/v1/engines/${volumeId}`;
    return this.ask(agent, { method: 'PUT', path, body: engine, timeoutMs }, startEngineReplySchema);
  }

  async stopEngine(agent: AgentTarget, volumeId: VolumeId, epoch: number): Promise<void> {
    const { engineMs: timeoutMs } = this.timeouts;
    const path = `/v1/engines/${volumeId}?epoch=${epoch}`;
    await this.send(agent, { method: 'DELETE', path, timeoutMs });
  }

  async command<Name extends EngineCommandName>(
    agent: AgentTarget,
    volumeId: VolumeId,
    name: Name,
    ask: EngineRequest<Name>,
  ): Promise<EngineReply<Name>> {
    const { patience, reply: replySchema } = ENGINE_COMMANDS[name];
    const timeoutMs = patience === 'long' ? this.timeouts.engineMs : this.timeouts.callMs;
    const path = `/v1/engines/${volumeId}/commands/${name}`;
    return this.ask(
      agent,
      { method: 'POST', path, body: ask, timeoutMs },
      engineAnswerSchema.transform(({ reply }) => reply).pipe(replySchema),
    );
  }

  private async ask<T extends z.ZodType>(agent: AgentTarget, call: Call, schema: T): Promise<z.infer<T>> {
    const parsed = schema.safeParse(await this.send(agent, call));
    if (parsed.success) return parsed.data;
    throw unreachable(agent, `it answered ${call.path} with something else than was asked for`, parsed.error);
  }

  private async send(agent: AgentTarget, call: Call): Promise<unknown> {
    const { controlUrl } = agent;
    if (controlUrl === undefined) throw unreachable(agent, 'it has not said where it can be reached');
    const { status, text } = await this.circuits
      .run(
        controlUrl,
        () => this.traced(agent, call, () => this.exchange(agent, `${controlUrl}${call.path}`, call)),
        () => unreachable(agent, 'it has not answered for a while, and does not answer now'),
      )
      .catch((error: unknown) => {
        if (error instanceof StorageFault) throw error;
        throw unreachable(agent, troubleOf(error), error);
      });
    const body = parseJson(text);
    if (status < 300) return body;
    throw refusal(agent, status, body);
  }

  /** A call that belongs to a trace is a span of it; heartbeats' checks and the sweep's calls belong to none. */
  private traced<T>(agent: AgentTarget, { method, path }: Call, work: () => Promise<T>): Promise<T> {
    if (currentTraceparent() === undefined) return work();
    const attributes = { 'http.request.method': method, 'url.path': path, 'holdfast.node.id': agent.id };
    return inSpan(`agent ${method}`, { kind: 'client', attributes }, work);
  }

  private async exchange(
    agent: AgentTarget,
    url: string,
    call: Call,
  ): Promise<{ status: number; text: string }> {
    try {
      return await withinLimit(call.timeoutMs, async (signal) => {
        const way = await this.wayTo(agent, url);
        const response = await request(way.url, {
          dispatcher: way.dispatcher,
          method: call.method,
          headers: {
            ...way.headers,
            authorization: `Bearer ${agent.controlSecret}`,
            ...traceHeader(),
            ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: call.body === undefined ? null : JSON.stringify(call.body),
          signal,
        });
        return { status: response.statusCode, text: await boundedText(agent, response.body) };
      });
    } catch (error) {
      if (error instanceof errors.ConnectTimeoutError) throw new SilenceError(error.message);
      throw error;
    }
  }

  /**
   * Over TLS to the node's certificate, on the port that serves HTTP and TLS; in clear on this machine. `host` is the name that its
   * certificate must have.
   */
  private async wayTo(agent: AgentTarget, url: string): Promise<Way> {
    const target = new URL(url);
    if (isLoopback(hostOf(target))) return { url: target, dispatcher: this.connections, headers: {} };
    if (this.certificate === undefined) throw new Error('there is no certificate to call agents with');
    const identity = await this.certificate();
    if (this.secure?.identity !== identity) {
      // Calls under way end on their own connections.
      void this.secure?.connections.close();
      const { cert, key, ca } = identity;
      const connect = { ...LIMITS.connect, cert, key, ca: [...ca], maxCachedSessions: 0 };
      this.secure = { identity, connections: new Agent({ ...LIMITS, connect }) };
    }
    const port = target.port === '' ? '80' : target.port;
    const secured = new URL(`https://${target.hostname}:${port}${target.pathname}${target.search}`);
    return { url: secured, dispatcher: this.secure.connections, headers: { host: nodeDnsName(agent.id) } };
  }

  /** True if the agent answers anything at all; the content does not matter. */
  private async answers(controlUrl: string, limitMs: number): Promise<boolean> {
    try {
      await withinLimit(limitMs, async (signal) => {
        const { body } = await request(`${controlUrl}/livez`, { dispatcher: this.connections, signal });
        await body.dump();
      });
      return true;
    } catch (error) {
      // A connection that is refused or reset is an answer too: that of its machine.
      return !(error instanceof SilenceError || error instanceof errors.ConnectTimeoutError);
    }
  }
}

function traceHeader(): { traceparent?: string } {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

/** In words of ours: what the other end or the network said is for the log, and tenants would learn addresses by it. */
function troubleOf(error: unknown): string {
  if (error instanceof SilenceError) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens at its address';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection broke';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name can not be resolved';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no route to it';
    default:
      return 'the call failed';
  }
}

async function boundedText(agent: AgentTarget, body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream is typed as one of anything; undici's bodies are made of buffers.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > ANSWER_BYTES_MAX)
      throw unreachable(agent, `its answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The agent's own code where it is one of ours; anything else is a refusal without a known reason. */
function refusal(agent: AgentTarget, status: number, body: unknown): StorageFault {
  const parsed = agentProblemSchema.safeParse(body);
  const code = faultCodeOf(parsed.data?.code ?? '', 'agent.refused');
  const message = parsed.success ? parsed.data.message : `it answered with status ${status}`;
  const newest = parsed.data?.newestEpoch;
  return new StorageFault(code, {
    publicMessage: `agent ${agent.name}: ${message}`,
    context: { nodeId: agent.id, status, ...(newest === undefined ? {} : { newest }) },
  });
}

function unreachable(agent: AgentTarget, why: string, cause?: unknown): StorageFault {
  return new StorageFault('agent.unreachable', {
    publicMessage: `the agent on ${agent.name} can't be reached: ${why}`,
    context: { nodeId: agent.id, controlUrl: agent.controlUrl ?? null },
    cause,
  });
}
