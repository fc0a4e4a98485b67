/** The control address of an agent that is reached over a network. */
import https from 'node:https';
import {
  type Authority,
  makeAuthority,
  makeControlPlaneCertificate,
  makeWorkerCertificate,
  readRequest,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { testId } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AgentCluster } from './agents.js';

// Nothing is sent to the address: it only tells the agent that it is not called on its own machine.
const cluster = new AgentCluster({ HOLDFAST_BIND_HOST: '127.0.0.1', HOLDFAST_ADVERTISE_HOST: '192.0.2.1' });
beforeAll(() => cluster.start(1));
afterAll(() => cluster.stop());

const LIFE = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };

function agent() {
  const [first] = cluster.agents;
  if (first === undefined) throw new Error('an agent was started');
  return first;
}

type Shown = { cert?: string; key?: string; agent?: https.Agent };

async function call(path: string, shown: Shown | undefined, method = 'GET'): Promise<number> {
  const { controlUrl, controlSecret } = agent().beat.node;
  const url = `http${shown === undefined ? '' : 's'}://127.0.0.1:${new URL(controlUrl).port}${path}`;
  const headers = { authorization: `Bearer ${controlSecret}` };
  if (shown === undefined) return (await fetch(url, { headers, method })).status;
  return new Promise((resolve, reject) => {
    const request = https.request(
      url,
      { method, headers, agent: false, rejectUnauthorized: false, ...shown },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on('error', reject);
    request.end();
  });
}

const COPY = '/v1/replicas/01890000-0000-7000-8000-000000000000';

test('is told what to do by a worker of its control plane only, whoever knows its secret', async () => {
  const { authority } = cluster.api;
  const { certificatePem: cert, keyPem: key } = await makeWorkerCertificate(authority, LIFE);
  await eventually(
    'the agent serves with its certificate',
    () => call('/livez', {}).catch(() => 0),
    (status) => status === 200,
  );
  expect(await call(COPY, { cert, key })).toBe(200);
  expect(await call(COPY, undefined)).toBe(403);
  expect(await call(COPY, {})).toBe(403);
  const foreign = await makeWorkerCertificate(await makeAuthority(LIFE.now), LIFE);
  expect(await call(COPY, { cert: foreign.certificatePem, key: foreign.keyPem })).toBe(403);
  const other = await makeControlPlaneCertificate(authority, LIFE);
  expect(await call(COPY, { cert: other.certificatePem, key: other.keyPem })).toBe(403);
});

test('takes commands to a copy from nodes of its cluster only, and asks for the secret beside that', async () => {
  const { authority, clusterId } = cluster.api;
  const command = `${COPY}/commands/open`;
  expect(await call(command, await nodeOf(authority, clusterId), 'POST')).toBe(401);
  expect(await call(command, undefined, 'POST')).toBe(403);
  expect(await call(command, {}, 'POST')).toBe(403);
  expect(await call(command, await nodeOf(authority, testId(9)), 'POST')).toBe(403);
  expect(await call(command, await nodeOf(await makeAuthority(LIFE.now), clusterId), 'POST')).toBe(403);
  const past = { now: new Date(Date.now() - 7_200_000), notAfter: new Date(Date.now() - 3_600_000) };
  expect(await call(command, await nodeOf(authority, clusterId, past), 'POST')).toBe(403);
  const worker = await makeWorkerCertificate(authority, LIFE);
  const shown = { cert: worker.certificatePem, key: worker.keyPem };
  expect(await call(command, shown, 'POST')).toBe(403);
});

test('takes none on a connection that outlives the certificate of its node', async () => {
  const { authority, clusterId } = cluster.api;
  const connections = new https.Agent({ keepAlive: true, maxSockets: 1 });
  const life = { now: new Date(), notAfter: new Date(Date.now() + 5_000) };
  const shown = { ...(await nodeOf(authority, clusterId, life)), agent: connections };
  const command = `${COPY}/commands/open`;
  try {
    expect(await call(command, shown, 'POST')).toBe(401);
    await eventually(
      'the certificate has ended',
      () => call(command, shown, 'POST'),
      (status) => status === 403,
    );
  } finally {
    connections.destroy();
  }
});

async function nodeOf(authority: Authority, clusterId: string, life = LIFE): Promise<Shown> {
  const key = makeKey();
  const asked = await readRequest(await makeRequest(key, 'node-9'));
  if (asked === undefined) throw new Error('the request is good');
  const cert = await signNodeCertificate(
    authority,
    { nodeId: testId(309), clusterId, name: 'node-9' },
    asked,
    life,
  );
  return { cert, key };
}

test('tells in clear that it lives and is ready, and nothing else', async () => {
  for (const probe of ['/livez', '/readyz', '/startupz', '/readyz?verbose'])
    expect(await call(probe, undefined)).toBe(200);
  expect(await call(COPY, undefined)).toBe(403);
});
