// Agents of a cluster's nodes as far as a worker sees them: one HTTP server answers for all, at a loopback address for each
// node. They keep nothing and do everything at once.
import { once } from 'node:events';
import http from 'node:http';
import {
  type EngineReport,
  type StartEngine,
  startEngineSchema,
} from '@holdfast/core/model/agent-protocol.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';

const REPLICA = /^\/v1\/replicas(?:\/([0-9a-f-]{36}))?/;
const ENGINE = /^\/v1\/engines\/([0-9a-f-]{36})(?:\/commands\/([a-z-]+))?/;

export type FakeAgents = {
  /** Where the agent of a node is reached. */
  urlOf(node: number): string;
  /** From now on the node's agent takes calls and answers none, as that of a machine that stands still. */
  hang(node: number): void;
  /** Calls that were answered so far. */
  calls(): number;
  /** The report of the engine that was started last. */
  lastEngine(): EngineReport | undefined;
  stop(): Promise<void>;
};

export async function startFakeAgents(): Promise<FakeAgents> {
  const hung = new Set<string>();
  let calls = 0;
  let last: EngineReport | undefined;
  const answer = (method: string, path: string, body: unknown): unknown => {
    calls += 1;
    const [, volumeId, command] = ENGINE.exec(path) ?? [];
    if (volumeId !== undefined && method === 'PUT') {
      last = reportOf(volumeId, startEngineSchema.parse(body));
      return { endpoint: { host: '127.0.0.1', port: 7420, exportName: volumeId }, report: last };
    }
    if (volumeId !== undefined) return { reply: command === 'layers' ? NO_LAYERS : null };
    const [, replicaId] = REPLICA.exec(path) ?? [];
    if (replicaId === undefined) return {};
    // Nothing is kept, so a copy that is to be deleted is gone already.
    if (method === 'GET') return { state: 'absent' };
    // What a new volume's copies hold before their first attachment.
    return { record: { epoch: 0, dataGeneration: 0, members: [replicaId] }, clean: true, writtenBytes: 0 };
  };
  const server = http.createServer((request, response) => {
    if (hung.has(request.socket.localAddress ?? '')) return;
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const body = text === '' ? undefined : JSON.parse(text);
      const reply = JSON.stringify(answer(request.method ?? '', request.url ?? '', body));
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the agents have no port');
  return {
    // Linux answers for all of 127.0.0.0/8; 127.0.x.x is left to what listens on the usual address.
    urlOf: (node) => `http://${hostOf(node)}:${address.port}`,
    hang: (node) => hung.add(hostOf(node)),
    calls: () => calls,
    lastEngine: () => last,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function hostOf(node: number): string {
  return `127.1.${node >> 8}.${node & 255}`;
}

const NO_LAYERS = {
  sizeBytes: 2 ** 30,
  busy: '',
  lastError: '',
  headParentId: null,
  headBytes: 0,
  layers: [],
};

function reportOf(volumeId: string, start: StartEngine): EngineReport {
  const { epoch, grantId, replicas, replicaTimeoutMs } = start;
  const members = replicas.map(({ replicaId }) => replicaId);
  const number = { epoch, dataGeneration: 1 };
  return {
    volumeId: asId<VolumeId>(volumeId),
    epoch,
    ...(grantId === undefined ? {} : { grantId }),
    state: 'running',
    reason: '',
    record: { ...number, members, durable: number },
    replicas: members.map((replicaId) => ({ replicaId, mode: 'RW', reason: '' })),
    writtenBytes: 0,
    replicaTimeoutMs,
    rebuilds: [],
  };
}
