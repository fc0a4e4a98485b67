import type { AgentClient, AgentTarget } from '@holdfast/control/ports/agent-client.js';
import {
  agentProblemSchema,
  type ChecksumReply,
  type CreateReplica,
  checksumReplySchema,
  type DropReplica,
  type OpenReplicaReply,
  openReplicaReplySchema,
  type StartEngine,
  type StartEngineReply,
  type StartRebuild,
  startEngineReplySchema,
} from '@holdfast/core/model/agent-protocol.js';
import { FAULTS, type FaultCode, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { z } from 'zod';

/** A healthy agent answers in milliseconds; what does not within this is treated as unreachable. */
const CALL_TIMEOUT_MS = 5_000;
/** Starting and stopping an engine opens copies on several nodes and flushes what is in flight. */
const ENGINE_TIMEOUT_MS = 20_000;
/** A checksum reads a whole copy: at 100 MB/s this covers 1 TB of written data. */
const CHECKSUM_TIMEOUT_MS = 3 * 3_600_000;
/** The largest answer is an engine's report; one that is longer comes from something that is no agent. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

type Call = { method: 'POST' | 'PUT' | 'DELETE'; path: string; body?: object; timeoutMs?: number };

/** Control calls to agents over HTTP, as `agent-protocol.ts` in core describes them. */
export class HttpAgentClient implements AgentClient {
  async createReplica(agent: AgentTarget, replica: CreateReplica): Promise<void> {
    await send(agent, { method: 'POST', path: '/v1/replicas', body: replica });
  }

  async deleteReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<void> {
    await send(agent, { method: 'DELETE', path: `/v1/replicas/${replicaId}` });
  }

  openReplica(agent: AgentTarget, replicaId: ReplicaId, epoch: number): Promise<OpenReplicaReply> {
    const call: Call = { method: 'POST', path: `/v1/replicas/${replicaId}/open`, body: { epoch } };
    return ask(agent, call, openReplicaReplySchema);
  }

  checksumReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ChecksumReply> {
    const path = `/v1/replicas/${replicaId}/checksum`;
    return ask(
      agent,
      { method: 'POST', path, body: {}, timeoutMs: CHECKSUM_TIMEOUT_MS },
      checksumReplySchema,
    );
  }

  startEngine(agent: AgentTarget, volumeId: VolumeId, engine: StartEngine): Promise<StartEngineReply> {
    const path = `/v1/engines/${volumeId}`;
    return ask(
      agent,
      { method: 'PUT', path, body: engine, timeoutMs: ENGINE_TIMEOUT_MS },
      startEngineReplySchema,
    );
  }

  async stopEngine(agent: AgentTarget, volumeId: VolumeId, epoch: number): Promise<void> {
    const path = `/v1/engines/${volumeId}?epoch=${epoch}`;
    await send(agent, { method: 'DELETE', path, timeoutMs: ENGINE_TIMEOUT_MS });
  }

  async startRebuild(agent: AgentTarget, volumeId: VolumeId, rebuild: StartRebuild): Promise<void> {
    const path = `/v1/engines/${volumeId}/rebuilds`;
    await send(agent, { method: 'POST', path, body: rebuild, timeoutMs: ENGINE_TIMEOUT_MS });
  }

  async cancelRebuild(agent: AgentTarget, volumeId: VolumeId, rebuildId: string): Promise<void> {
    await send(agent, { method: 'DELETE', path: `/v1/engines/${volumeId}/rebuilds/${rebuildId}` });
  }

  async dropReplica(agent: AgentTarget, volumeId: VolumeId, drop: DropReplica): Promise<void> {
    const path = `/v1/engines/${volumeId}/drop`;
    await send(agent, { method: 'POST', path, body: drop, timeoutMs: ENGINE_TIMEOUT_MS });
  }
}

async function ask<T extends z.ZodType>(agent: AgentTarget, call: Call, schema: T): Promise<z.infer<T>> {
  const parsed = schema.safeParse(await send(agent, call));
  if (parsed.success) return parsed.data;
  throw unreachable(agent, `it answered ${call.path} with something else than was asked for`, parsed.error);
}

async function send(agent: AgentTarget, call: Call): Promise<unknown> {
  if (agent.controlUrl === undefined) throw unreachable(agent, 'it has not said where it can be reached');
  const { status, text } = await fetchText(agent, `${agent.controlUrl}${call.path}`, call);
  const body = parseJson(text);
  if (status < 300) return body;
  throw refusal(agent, status, body);
}

async function fetchText(
  agent: AgentTarget,
  url: string,
  call: Call,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      method: call.method,
      headers: {
        authorization: `Bearer ${agent.controlSecret}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: AbortSignal.timeout(call.timeoutMs ?? CALL_TIMEOUT_MS),
      redirect: 'error',
    });
    return { status: response.status, text: await boundedText(agent, response) };
  } catch (error) {
    if (error instanceof StorageFault) throw error;
    throw unreachable(agent, causeOf(error), error);
  }
}

async function boundedText(agent: AgentTarget, response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
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
  const code = parsed.success && isFaultCode(parsed.data.code) ? parsed.data.code : 'agent.refused';
  const message = parsed.success ? parsed.data.message : `it answered with status ${status}`;
  return new StorageFault(code, {
    publicMessage: `agent ${agent.name}: ${message}`,
    context: { nodeId: agent.id, status },
  });
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(FAULTS, code);
}

function unreachable(agent: AgentTarget, why: string, cause?: unknown): StorageFault {
  return new StorageFault('agent.unreachable', {
    publicMessage: `the agent on ${agent.name} can't be reached: ${why}`,
    context: { nodeId: agent.id, controlUrl: agent.controlUrl ?? null },
    cause,
  });
}

/** fetch hides the reason (connection refused, timeout) in the error's cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
