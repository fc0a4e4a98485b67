import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sendOnce } from './http-send.js';
import { reasonOf } from './send.js';

const WAIT_MS = 5_000;
let server: http.Server;
let origin: string;
/** Method, path, authorization and body of the last request. */
let received: unknown;

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { method, url, headers } = request;
    received = [method, url, headers.authorization, Buffer.concat(chunks).toString()];
    if (url === '/silent') return;
    if (url === '/cut') return void request.socket.destroy();
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.writeHead(url === '/none' ? 204 : 201, { 'content-type': 'application/json' });
    response.end(url === '/none' ? undefined : '{"ä":1}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  origin = `http://127.0.0.1:${address.port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a request arrives as it is, and so does its answer', async () => {
  const headers = { authorization: 'Bearer hf_x' };
  const answer = await sendOnce(
    new Request(`${origin}/a?b=c`, { method: 'POST', body: 'ü', headers }),
    WAIT_MS,
  );
  expect(received).toEqual(['POST', '/a?b=c', 'Bearer hf_x', 'ü']);
  expect(answer.status).toBe(201);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await answer.json()).toEqual({ ä: 1 });
});

test('an answer may be empty', async () => {
  const answer = await sendOnce(new Request(`${origin}/none`, { method: 'DELETE' }), WAIT_MS);
  expect([answer.status, await answer.text()]).toEqual([204, '']);
});

test.each([
  ['/silent', 100, 'no answer within 20 s'],
  ['/cut', WAIT_MS, 'the connection was cut'],
])('%s has no answer, and the reason is told', async (path, timeoutMs, want) => {
  const request = new Request(`${origin}${path}`);
  const error = await sendOnce(request, timeoutMs).catch((reason: unknown) => reason);
  expect(reasonOf(error, request)).toBe(want);
});

test('where nothing listens it is told', async () => {
  const request = new Request('http://127.0.0.1:1/');
  const error = await sendOnce(request, WAIT_MS).catch((reason: unknown) => reason);
  expect(reasonOf(error, request)).toBe('nothing listens there');
});
