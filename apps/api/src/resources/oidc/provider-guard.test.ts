import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { expect, test } from '@jest/globals';
import { addressesOfTenants, addressesToCall, guardedFetch } from './provider-guard.js';

test.each<{ issuer: string; asked: string; resolves?: string; refused?: string }>([
  { issuer: 'https://id.example.test', asked: 'https://id.example.test/token', resolves: '192.0.2.7' },
  { issuer: 'https://id.example.test', asked: 'https://keys.example.test/jwks', resolves: '10.1.2.3' },
  { issuer: 'https://id.example.test', asked: 'http://id.example.test/token', refused: 'is not HTTPS' },
  {
    issuer: 'https://id.example.test',
    asked: 'https://x.test/',
    resolves: '169.254.169.254',
    refused: '169.254',
  },
  {
    issuer: 'https://id.example.test',
    asked: 'https://x.test/',
    resolves: '127.0.0.1',
    refused: '127.0.0.1',
  },
  { issuer: 'http://127.0.0.1:9000', asked: 'http://127.0.0.1:9000/token' },
  { issuer: 'http://127.0.0.1:9000', asked: 'http://127.0.0.1:7400/api', refused: 'is not HTTPS' },
])('$issuer has $asked called, which is $resolves', async ({ issuer, asked, resolves, refused }) => {
  const lookup = async () => [resolves ?? '192.0.2.1'];
  const call = addressesToCall(new URL(asked), new URL(issuer), lookup);
  if (refused === undefined) expect(await call).toEqual(resolves === undefined ? undefined : [resolves]);
  else await expect(call).rejects.toThrow(refused);
});

test.each<{ asked: string; resolves: string[]; allowed: string[] }>([
  { asked: 'https://id.example.test/', resolves: ['8.8.8.8'], allowed: ['8.8.8.8'] },
  { asked: 'https://id.example.test/', resolves: ['10.1.2.3', '8.8.8.8'], allowed: ['8.8.8.8'] },
  { asked: 'https://id.example.test/', resolves: ['10.1.2.3'], allowed: [] },
  { asked: 'https://id.example.test/', resolves: ['127.0.0.1'], allowed: [] },
  { asked: 'https://id.example.test/', resolves: ['::1'], allowed: [] },
  { asked: 'https://id.example.test/', resolves: ['::ffff:127.0.0.1'], allowed: [] },
  { asked: 'https://id.example.test/', resolves: ['169.254.169.254'], allowed: [] },
  { asked: 'http://id.example.test/', resolves: ['8.8.8.8'], allowed: [] },
  { asked: 'https://id.example.test/', resolves: ['10.9.0.4'], allowed: ['10.9.0.4'] },
  { asked: 'http://id.example.test/', resolves: ['10.9.0.4'], allowed: ['10.9.0.4'] },
])('of $resolves, $asked of a tenant is called at $allowed', async ({ asked, resolves, allowed }) => {
  const call = addressesOfTenants(new URL(asked), ['10.9.0.0/16'], async () => resolves);
  if (allowed.length > 0) expect(await call).toEqual(allowed);
  else await expect(call).rejects.toThrow('none that may be called');
});

test('an answer of a provider is read to a limit', async () => {
  const server = http.createServer((_request, response) => {
    response.end(Buffer.alloc(300 * 1024));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as net.AddressInfo;
  const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
  const call = guardedFetch(async () => ['127.0.0.1'])(`http://127.0.0.1:${port}/`, options);
  await expect(call).rejects.toThrow();
  server.close();
});

test('a call goes to the address that was checked, whatever the name leads to a moment later', async () => {
  let connections = 0;
  const here = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(here.listen(0, '127.0.0.1'), 'listening');
  const { port } = here.address() as net.AddressInfo;
  // Reserved, so nothing is there; the name itself leads to this machine.
  const call = guardedFetch(async () => ['240.0.0.1']);
  const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
  await expect(call(`https://localhost:${port}/jwks`, options)).rejects.toThrow();
  here.close();
  expect(connections).toBe(0);
});
