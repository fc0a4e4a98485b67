import { once } from 'node:events';
import https from 'node:https';
import { TLSSocket } from 'node:tls';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import {
  type Authority,
  makeAuthority,
  makeWorkerCertificate,
  readRequest,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import { isWorkerCertificate } from '@holdfast/identity/certificate.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { testId } from '@holdfast/testkit/builders.js';
import { afterEach, expect, test } from '@jest/globals';
import { HttpAgentClient } from './http-agent-client.js';
import type { TlsIdentity } from './worker-certificate.js';

const NODE = asId<NodeId>(testId(301));
const REPLICA = asId<ReplicaId>(testId(101));
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const LIFE = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };

test('an agent on another machine is called over TLS, with the certificate of a worker', async () => {
  const authority = await makeAuthority(LIFE.now);
  const { port, seen } = await agentOf(NODE, authority);
  await (await workerOf(authority)).deleteReplica(target(port), REPLICA);
  expect(seen).toEqual([[true, true]]);
});

test.each<[string, string, boolean]>([
  ['the certificate of another node', testId(302), true],
  ['a certificate of another authority', NODE, false],
])('what shows %s hears nothing', async (_what, nodeId, isOurs) => {
  const authority = await makeAuthority(LIFE.now);
  const { port, seen } = await agentOf(nodeId, isOurs ? authority : await makeAuthority(LIFE.now));
  const called = (await workerOf(authority)).deleteReplica(target(port), REPLICA);
  await expect(called).rejects.toMatchObject({ code: 'agent.unreachable' });
  expect(seen).toEqual([]);
});

async function agentOf(nodeId: string, authority: Authority): Promise<{ port: number; seen: unknown[] }> {
  const keyPem = makeKey();
  const key = await readRequest(await makeRequest(keyPem, 'node-1'));
  if (key === undefined) throw new Error('the request is good');
  const node = { nodeId, clusterId: testId(3), name: 'node-1' };
  const cert = await signNodeCertificate(authority, node, key, LIFE);
  const seen: unknown[] = [];
  const options = {
    cert,
    key: keyPem,
    ca: authority.certificatePem,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = https.createServer(options, (request, response) => {
    const { socket } = request;
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    seen.push([
      shown !== undefined && isWorkerCertificate(shown),
      'authorized' in socket && socket.authorized,
    ]);
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, seen };
}

async function workerOf(authority: Authority): Promise<HttpAgentClient> {
  const { certificatePem: cert, keyPem: key } = await makeWorkerCertificate(authority, LIFE);
  const identity: TlsIdentity = { cert, key, ca: [authority.certificatePem] };
  const client = new HttpAgentClient(undefined, async () => identity);
  closing.push(() => client.close());
  return client;
}

/** This machine by an address that is not taken for it, as another machine's would not be. */
function target(port: number) {
  return {
    id: NODE,
    name: 'node-1',
    controlUrl: `http://[::ffff:127.0.0.1]:${port}`,
    controlSecret: 'secret',
  };
}
