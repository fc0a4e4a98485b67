import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentTarget } from '@holdfast/control/ports/agent-client.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { HttpAgentClient } from './http-agent-client.js';

const REPLICA = asId<ReplicaId>('01890000-0000-7000-8000-000000000001');
const client = new HttpAgentClient();
let server: http.Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers every call in one way, and remembers what it was asked. */
async function agentThatAnswers(
  status: number,
  body: string,
): Promise<{ agent: AgentTarget; asked: string[] }> {
  const asked: string[] = [];
  server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    request.resume();
    request.once('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end(body));
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
    expect(await client.openReplica(agent, REPLICA, 3)).toEqual(reply);
    expect(asked).toEqual([`POST /v1/replicas/${REPLICA}/open Bearer secret`]);
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
    { what: 'an endless answer', status: 200, body: `"${'x'.repeat(5_000_000)}"`, want: 'agent.unreachable' },
  ])('$what becomes $want', async ({ status, body, want }) => {
    const { agent } = await agentThatAnswers(status, body);
    await expect(client.openReplica(agent, REPLICA, 3)).rejects.toMatchObject({ code: want });
  });

  test.each([
    { what: 'a port that nobody listens on', url: 'http://127.0.0.1:1' },
    { what: 'an agent without an address', url: undefined },
  ])('$what is unreachable', async ({ url }) => {
    await expect(client.deleteReplica(target(url), REPLICA)).rejects.toMatchObject({
      code: 'agent.unreachable',
    });
  });
});
