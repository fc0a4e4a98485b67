import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { makeAuthority, makeControlPlaneCertificate } from './authority.js';
import { CONTROL_PLANE_NAME } from './names.js';
import { type SharedPorts, sharedPorts } from './shared-port.js';

const ports = sharedPorts();
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function listen(on = ports): Promise<{ server: http.Server; port: number }> {
  const server = on.make((request, response) => {
    response.end(`${'encrypted' in request.socket ? 'tls' : 'plain'} ${request.url}`);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

/** Gives them a certificate. @returns the authority to trust */
async function certify(on: SharedPorts): Promise<string> {
  const now = new Date();
  const authority = await makeAuthority(now);
  const life = { now, notAfter: new Date(now.getTime() + 60_000) };
  const { certificatePem: cert, keyPem: key } = await makeControlPlaneCertificate(authority, life);
  on.setCertificate({ cert, key, ca: authority.certificatePem });
  return authority.certificatePem;
}

function get(client: typeof http | typeof https, options: https.RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = client.get(
      { host: '127.0.0.1', path: '/x', agent: false, ...options },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(text);
      },
    );
    request.on('error', reject);
  });
}

test('a port answers HTTP, and TLS once it has a certificate, which a new one takes its place', async () => {
  const { port } = await listen();
  expect(await get(http, { port })).toBe('plain /x');
  await expect(get(https, { port })).rejects.toThrow();
  for (let round = 0; round < 2; round += 1) {
    const trusting = { port, ca: await certify(ports), servername: CONTROL_PLANE_NAME };
    expect(await get(https, trusting)).toBe('tls /x');
    expect(await get(http, { port })).toBe('plain /x');
    const { port: later } = await listen();
    expect(await get(https, { ...trusting, port: later })).toBe('tls /x');
    await expect(get(https, { ...trusting, servername: 'another.name' })).rejects.toThrow(/altnames/);
  }
});

test('an idle connection is kept for longer than proxies keep theirs, and clients are told for how long', async () => {
  const { port } = await listen();
  const told = await fetch(`http://127.0.0.1:${port}/x`);
  expect(told.headers.get('keep-alive')).toBe('timeout=72');
  await told.text();
});

test('a request whose bytes come one by one is answered', async () => {
  const { port } = await listen();
  const socket = net.connect(port, '127.0.0.1').setNoDelay();
  for (const byte of 'GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n') {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text).toContain('plain /slow');
});

test('a server that closes waits for no connection that says nothing, nor for one whose client is gone', async () => {
  const { server, port } = await listen();
  const gone = net.connect(port, '127.0.0.1');
  await once(gone, 'connect');
  gone.end();
  const silent = net.connect(port, '127.0.0.1');
  await once(silent, 'connect');
  while (
    (await new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))) !== 1
  ) {
    await new Promise(setImmediate);
  }
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
  silent.destroy();
});

test.each([
  { name: 'what is no request', sent: 'no request\r\n\r\n', code: 'HPE_INVALID_METHOD' },
  { name: 'half a request', sent: 'GET /x HTTP/1.1\r\n', code: 'ERR_HTTP_REQUEST_TIMEOUT' },
])('$name is refused in one way, over TLS too', async ({ sent, code }) => {
  const impatient = sharedPorts({ requestMsMax: 100 });
  const ca = await certify(impatient);
  const { server, port } = await listen(impatient);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => socket.end(`refused: ${error.code}`));
  const secured = tls.connect({ port, ca, servername: CONTROL_PLANE_NAME });
  for (const client of [net.connect(port, '127.0.0.1'), secured]) {
    client.write(sent);
    expect(await text(client)).toBe(`refused: ${code}`);
  }
});

test('a request has a minute to come', async () => {
  const { server } = await listen();
  expect(server.requestTimeout).toBe(60_000);
});
