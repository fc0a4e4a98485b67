import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { makeAuthority, makeControlPlaneCertificate } from './authority.js';
import { CONTROL_PLANE_NAME } from './names.js';
import { sharedPorts } from './shared-port.js';

const ports = sharedPorts();
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function listen(): Promise<{ server: http.Server; port: number }> {
  const server = ports.make((request, response) => {
    response.end(`${'encrypted' in request.socket ? 'tls' : 'plain'} ${request.url}`);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
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
    const now = new Date();
    const authority = await makeAuthority(now);
    const life = { now, notAfter: new Date(now.getTime() + 60_000) };
    const { certificatePem: cert, keyPem: key } = await makeControlPlaneCertificate(authority, life);
    ports.setCertificate({ cert, key, ca: authority.certificatePem });
    const trusting = { port, ca: authority.certificatePem, servername: CONTROL_PLANE_NAME };
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

test('a client that sends its request by the drop is waited for a minute, and over TLS it is told of what is no request', async () => {
  const now = new Date();
  const authority = await makeAuthority(now);
  const life = { now, notAfter: new Date(now.getTime() + 60_000) };
  const { certificatePem: cert, keyPem: key } = await makeControlPlaneCertificate(authority, life);
  ports.setCertificate({ cert, key, ca: authority.certificatePem });
  const { server, port } = await listen();
  expect(server.requestTimeout).toBe(60_000);
  server.on('clientError', (_error, socket) => socket.end('as everywhere'));
  const client = tls.connect({ port, ca: authority.certificatePem, servername: CONTROL_PLANE_NAME });
  await once(client, 'secureConnect');
  client.write('no request\r\n\r\n');
  expect(await text(client)).toBe('as everywhere');
});
