/** Commands to copies on other machines: which agents an engine or a rebuild speaks to, and which certificate it shows. */
import { once } from 'node:events';
import fs from 'node:fs/promises';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import {
  type Authority,
  makeAuthority,
  readRequest,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import { readNodeCertificate } from '@holdfast/identity/certificate.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { testId } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connectByHttp } from './http-replica-control.js';
import { IdentityFolder } from './identity/stored-identity.js';

const CLUSTER = testId(3);
const [OWN, OTHER, THIRD] = [testId(301), testId(302), testId(303)];
const LIFE = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };
const PAST = { now: new Date(Date.now() - 7_200_000), notAfter: new Date(Date.now() - 3_600_000) };

let state: string;
let authority: Authority;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  state = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-node-tls-'));
  process.env.HOLDFAST_STATE_DIR = state;
  authority = await makeAuthority(LIFE.now);
  await becomes(OWN);
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => fs.rm(state, { recursive: true, force: true }));

describe('a command to a copy on another machine', () => {
  test('goes over TLS to the node that was meant, with the certificate of its own', async () => {
    const { url, callers } = await agentOf(OTHER);
    await ask(url);
    expect(callers).toEqual([OWN]);
  });

  test.each([
    ['of another node', async () => agentOf(THIRD)],
    ['of another authority', async () => agentOf(OTHER, { by: await makeAuthority(LIFE.now) })],
    ['that has ended', async () => agentOf(OTHER, { life: PAST })],
  ])('is not sent to a certificate %s', async (_which, start) => {
    const { url, callers } = await start();
    await expect(ask(url)).rejects.toMatchObject({ code: 'agent.unreachable' });
    expect(callers).toEqual([]);
  });

  test('shows the renewed certificate soon, and those under way go on', async () => {
    const { url, callers, serials } = await agentOf(OTHER);
    await ask(url);
    const underWay = ask(url);
    await becomes(OWN);
    await underWay;
    await eventually(
      'the renewed one is shown',
      async () => {
        await ask(url);
        return new Set(serials).size;
      },
      (shown) => shown === 2,
    );
    expect(new Set(callers)).toEqual(new Set([OWN]));
  });
});

function ask(controlUrl: string) {
  const control = connectByHttp({ replicaId: testId(101), nodeId: OTHER, controlUrl, secret: 'secret' });
  return control.command('mark-removed', { epoch: 1, layerId: testId(601) });
}

/** The identity that the agent's own process keeps for its hosts. */
async function becomes(nodeId: string): Promise<void> {
  const { key, cert } = await certified(nodeId, authority, LIFE);
  const folder = await IdentityFolder.open(state);
  const authorities = [authority.certificatePem];
  const times = { receivedAtMs: Date.now(), lifeMs: 3_600_000 };
  await folder.write({
    nodeId,
    clusterId: CLUSTER,
    keyPem: key,
    certificatePem: cert,
    authorities,
    ...times,
  });
}

async function certified(nodeId: string, by: Authority, life: typeof LIFE) {
  const key = makeKey();
  const asked = await readRequest(await makeRequest(key, 'node'));
  if (asked === undefined) throw new Error('the request is good');
  const cert = await signNodeCertificate(by, { nodeId, clusterId: CLUSTER, name: 'node' }, asked, life);
  return { key, cert };
}

/** A server with a node's certificate, at an address that is not taken for this machine's own. */
async function agentOf(nodeId: string, { by = authority, life = LIFE } = {}) {
  const { key, cert } = await certified(nodeId, by, life);
  const callers: (string | undefined)[] = [];
  const serials: string[] = [];
  const options = { key, cert, ca: by.certificatePem, requestCert: true, rejectUnauthorized: false };
  const server = https.createServer(options, ({ socket }, response) => {
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    callers.push(shown === undefined ? undefined : readNodeCertificate(shown)?.nodeId);
    serials.push(shown?.serialNumber ?? '');
    response.setHeader('content-type', 'application/json');
    response.end('{"reply": null}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://[::ffff:127.0.0.1]:${port}`, callers, serials };
}
