import http from 'node:http';
import type net from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { askApi } from './ask-api.js';

/** An API that hangs up on the first request without an answer. */
let api: http.Server;
let url: string;
let asked: string[];

beforeEach(async () => {
  asked = [];
  api = http.createServer(async (request, response) => {
    asked.push(`${request.method} ${Buffer.concat(await request.toArray())}`);
    if (asked.length === 1) request.socket.destroy();
    else response.end('done');
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(api.address() as net.AddressInfo).port}/`;
});
afterEach(() => {
  api.closeAllConnections();
  api.close();
});

const write = (headers: Headers) => askApi(url, { method: 'POST', headers, body: 'a volume' });

test('a question is asked again where the connection ended without an answer', async () => {
  const answer = await askApi(url, { method: 'GET', headers: new Headers() });
  expect(await answer.text()).toBe('done');
  expect(asked).toEqual(['GET ', 'GET ']);
});

test('a write with a key is repeated with its body', async () => {
  const answer = await write(new Headers({ 'Idempotency-Key': 'made-once' }));
  expect(await answer.text()).toBe('done');
  expect(asked).toEqual(['POST a volume', 'POST a volume']);
});

test('a write without a key is not, since the API may have done it', async () => {
  await expect(write(new Headers())).rejects.toThrow('fetch failed');
  expect(asked).toEqual(['POST a volume']);
});

test('an API that is not there is asked once', async () => {
  api.closeAllConnections();
  await new Promise((resolve) => api.close(resolve));
  await expect(askApi(url, { method: 'GET', headers: new Headers() })).rejects.toThrow('fetch failed');
});
