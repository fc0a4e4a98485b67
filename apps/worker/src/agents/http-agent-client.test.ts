import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { AgentTarget } from '@holdfast/control/ports/agent-client.js';
import {
  asId,
  type NodeId,
  type ReplicaId,
  type SnapshotId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { type AgentTimeouts, HttpAgentClient } from './http-agent-client.js';

const REPLICA = asId<ReplicaId>('01890000-0000-7000-8000-000000000001');
const VOLUME = asId<VolumeId>('01890000-0000-7000-8000-000000000003');
const SNAPSHOT = asId<SnapshotId>('01890000-0000-7000-8000-000000000004');
const client = new HttpAgentClient();
const clients = [client];
let server: http.Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

afterAll(() => Promise.all(clients.map((each) => each.close())));

/** A server that answers every call in one way, and records the calls. */
async function agentThatAnswers(
  status: number,
  body: string,
  afterMs = 0,
): Promise<{ agent: AgentTarget; asked: string[] }> {
  const asked: string[] = [];
  server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    request.resume();
    const answer = () => response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    request.once('end', () => setTimeout(answer, afterMs).unref());
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return { agent: target(`http://127.0.0.1:${port}`), asked };
}

function target(controlUrl: string | undefined): AgentTarget {
  return {
    id: asId<NodeId>('01890000-0000-7000-8000-000000000002'),
    name: 'node-1',
    controlUrl,
    controlSecret: 'secret',
  };
}

describe('HttpAgentClient', () => {
  test('asks with the secret and reads the answer', async () => {
    const reply = { record: null, clean: true, writtenBytes: 0 };
    const { agent, asked } = await agentThatAnswers(200, JSON.stringify(reply));
    expect(await client.openReplica(agent, REPLICA, { epoch: 3 })).toEqual(reply);
    expect(asked).toEqual([`POST /v1/replicas/${REPLICA}/open Bearer secret`]);
  });

  test('sends a command to an engine by its name, and the reply has ids and times', async () => {
    const layer = {
      id: SNAPSHOT,
      name: 'a',
      origin: 'user',
      parentId: null,
      createdAt: '2026-01-01T00:00:00Z',
    };
    const sizes = { sizeBytes: 4096, heldBytes: 4096 };
    const layers = [{ ...layer, ...sizes, removed: false, checksums: [] }];
    const reply = { sizeBytes: 4096, busy: '', lastError: '', headParentId: SNAPSHOT, headBytes: 0, layers };
    const { agent, asked } = await agentThatAnswers(200, JSON.stringify({ reply }));
    const answer = await client.command(agent, VOLUME, 'layers', { epoch: 3 });
    expect(answer.layers[0]?.createdAt).toEqual(new Date('2026-01-01T00:00:00Z'));
    expect(asked).toEqual([`POST /v1/engines/${VOLUME}/commands/layers Bearer secret`]);
  });

  test('takes a reply that is not of the command for no answer', async () => {
    const { agent } = await agentThatAnswers(200, '{"reply":{"layers":"many"}}');
    await expect(client.command(agent, VOLUME, 'layers', { epoch: 3 })).rejects.toMatchObject({
      code: 'agent.unreachable',
    });
  });

  test.each([
    {
      what: 'a known code',
      status: 409,
      body: '{"code":"engine.stale_epoch","message":"epoch 4 is known"}',
      want: 'engine.stale_epoch',
    },
    {
      what: 'an unknown code',
      status: 409,
      body: '{"code":"engine.is_sad","message":"no"}',
      want: 'agent.refused',
    },
    { what: 'no problem document', status: 500, body: '<html>', want: 'agent.refused' },
    { what: 'a body of another shape', status: 200, body: '{"clean":"yes"}', want: 'agent.unreachable' },
    {
      what: 'an endless answer',
      status: 409,
      body: `{"code":"engine.stale_epoch","message":"no"}${' '.repeat(5_000_000)}`,
      want: 'agent.unreachable',
    },
  ])('$what becomes $want', async ({ status, body, want }) => {
    const { agent } = await agentThatAnswers(status, body);
    await expect(client.openReplica(agent, REPLICA, { epoch: 3 })).rejects.toMatchObject({ code: want });
  });

  test('keeps the epoch that a copy knows', async () => {
    const { agent } = await agentThatAnswers(
      409,
      '{"code":"engine.stale_epoch","message":"no","newestEpoch":7}',
    );
    await expect(client.openReplica(agent, REPLICA, { epoch: 3 })).rejects.toMatchObject({
      details: { context: { newest: 7 } },
    });
  });

  test.each([
    { what: 'a port without a listener', url: 'http://127.0.0.1:1' },
    { what: 'an agent without an address', url: undefined },
  ])('$what is unreachable', async ({ url }) => {
    await expect(client.deleteReplica(target(url), REPLICA)).rejects.toMatchObject({
      code: 'agent.unreachable',
    });
  });

  describe('an agent that answers late', () => {
    // HTTP clients look at their own limits about once a second, so a shorter delay would prove nothing.
    const LATE_MS = 2_500;
    const reply = JSON.stringify({ checksum: 'abc', writtenBytes: 1 });

    function impatientClient(timeouts: Partial<AgentTimeouts>): HttpAgentClient {
      const impatient = new HttpAgentClient({ callMs: 50, engineMs: 50, checksumMs: 50, ...timeouts });
      clients.push(impatient);
      return impatient;
    }

    test('is waited for as long as the call says, whatever the limits of the process are', async () => {
      // Node's own fetch has these too: 300 s for the first byte of an answer.
      const usual = getGlobalDispatcher();
      const hasty = new Agent({ headersTimeout: 50, bodyTimeout: 50 });
      setGlobalDispatcher(hasty);
      try {
        const { agent } = await agentThatAnswers(200, reply, LATE_MS);
        const answer = impatientClient({ checksumMs: 20_000 }).checksumReplica(agent, REPLICA);
        expect(await answer).toEqual({ checksum: 'abc', writtenBytes: 1 });
      } finally {
        setGlobalDispatcher(usual);
        await hasty.close();
      }
    });

    test.each([
      { name: 'purge', ends: 'answered' },
      { name: 'layers', ends: 'agent.unreachable' },
    ] as const)('has the patience that the table gives $name: it is $ends', async ({ name, ends }) => {
      const { agent } = await agentThatAnswers(200, '{"reply":null}', LATE_MS);
      const asked = impatientClient({ engineMs: 20_000 }).command(agent, VOLUME, name, { epoch: 1 });
      const end = asked.then(
        () => 'answered',
        ({ code }: { code: string }) => code,
      );
      expect(await end).toBe(ends);
    });

    test('is unreachable when the time of the call is up', async () => {
      const { agent } = await agentThatAnswers(200, reply, LATE_MS);
      await expect(impatientClient({}).checksumReplica(agent, REPLICA)).rejects.toMatchObject({
        code: 'agent.unreachable',
        message: expect.stringContaining('timeout'),
      });
    });
  });

  describe('whatever a silent peer does, a call ends within its own limit', () => {
    const LIMIT_MS = 700;
    /** Without a limit of its own a connection attempt takes 127 s. */
    const HUNG_MS = 60_000;
    const closing: (() => void)[] = [];
    afterEach(() => {
      for (const close of closing.splice(0)) close();
    });

    /** A listening process that is stopped once its queue of connections is full: further SYNs are dropped. */
    async function blackHole(): Promise<number> {
      const script = `require('net').createServer().listen(
        { port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port); });`;
      const child: ChildProcess = spawn(process.execPath, ['-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      closing.push(() => child.kill('SIGKILL'));
      const port = await new Promise<number>((resolve) =>
        child.stdout?.once('data', (chunk) => resolve(Number(String(chunk)))),
      );
      child.kill('SIGSTOP');
      let isFull = false;
      while (!isFull) {
        const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
        closing.push(() => socket.destroy());
        isFull = await new Promise<boolean>((resolve) => {
          socket.once('connect', () => resolve(false));
          setTimeout(() => resolve(true), 200);
        });
      }
      return port;
    }

    /** Does this much with each connection, and no more. */
    async function peerThat(act: (socket: net.Socket) => void): Promise<number> {
      const peer = net.createServer((socket) => {
        socket.on('error', () => undefined);
        closing.push(() => socket.destroy());
        act(socket);
      });
      await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
      closing.push(() => peer.close());
      return (peer.address() as AddressInfo).port;
    }

    test('shows tenants neither what a foreign server says, nor control characters of an agent', async () => {
      const foreign = await peerThat((socket) => socket.end('220 mail.internal ESMTP\r\n'));
      const said = await client
        .openReplica(target(`http://127.0.0.1:${foreign}`), REPLICA, { epoch: 3 })
        .catch(String);
      expect(said).toContain('the call failed');
      expect(said).not.toMatch(/mail|ESMTP|Parse|127/);
      const message = `${'\u001b[31m'}red \u202e${'x'.repeat(5_000)}`;
      const { agent } = await agentThatAnswers(409, JSON.stringify({ code: 'engine.busy', message }));
      const refused = await client.openReplica(agent, REPLICA, { epoch: 3 }).catch(String);
      expect(refused).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(String(refused).length).toBeLessThan(600);
    });

    const half = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n{"record":';
    test.each([
      { what: 'drops SYNs', port: blackHole },
      { what: 'accepts and says nothing', port: () => peerThat(() => undefined) },
      { what: 'answers with half a head', port: () => peerThat((socket) => socket.write('HTTP/1.1 2')) },
      { what: 'answers with half a body', port: () => peerThat((socket) => socket.write(half)) },
    ])('a peer that $what', async ({ port }) => {
      const url = `http://127.0.0.1:${await port()}`;
      const limited = new HttpAgentClient({ callMs: LIMIT_MS, engineMs: LIMIT_MS, checksumMs: LIMIT_MS });
      const startedAt = performance.now();
      await expect(limited.openReplica(target(url), REPLICA, { epoch: 3 })).rejects.toMatchObject({
        code: 'agent.unreachable',
      });
      const tookMs = performance.now() - startedAt;
      await limited.close();
      const closedMs = performance.now() - startedAt - tookMs;
      expect(tookMs).toBeGreaterThanOrEqual(LIMIT_MS - 50);
      expect(tookMs).toBeLessThan(HUNG_MS);
      expect(closedMs).toBeLessThan(HUNG_MS);
    });
  });
});
