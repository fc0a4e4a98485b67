import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from '@jest/globals';
import { addressesToCall, guardedFetch } from './provider-guard.js';

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

test('a call goes to the address that was checked, whatever the name leads to a moment later', async () => {
  let connections = 0;
  const here = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(here.listen(0, '127.0.0.1'), 'listening');
  const { port } = here.address() as net.AddressInfo;
  // Reserved, so nothing is there; the name itself leads to this machine.
  const lookup = async () => ['240.0.0.1'];
  const call = guardedFetch(new URL('https://id.example.test'), lookup);
  const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
  await expect(call(`https://localhost:${port}/jwks`, options)).rejects.toThrow();
  here.close();
  expect(connections).toBe(0);
});
