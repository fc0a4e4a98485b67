/** Readers of event streams that read, and those that do not. */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeBounded } from './bounded-response.js';

const CHUNK = 'x'.repeat(64 * 1024);
/** 64 MiB: far more than the buffers of both sockets take. */
const CHUNKS_MAX = 1024;

let server: http.Server;
let response: http.ServerResponse;
let reader: net.Socket;

beforeEach(async () => {
  server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast: it listens on a port.
  const { port } = server.address() as net.AddressInfo;
  reader = net.connect(port, '127.0.0.1');
  reader.on('error', () => undefined);
  reader.pause();
  reader.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
  [, response] = await once(server, 'request');
});
afterEach(async () => {
  reader.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

test('one that takes nothing is cut off before more than a few megabytes wait for it', async () => {
  let heldBytesMax = 0;
  for (let written = 0; written < CHUNKS_MAX && !response.destroyed; written += 1) {
    writeBounded(response, CHUNK);
    heldBytesMax = Math.max(heldBytesMax, response.writableLength);
    await new Promise(setImmediate);
  }
  expect(response.destroyed).toBe(true);
  expect(heldBytesMax).toBeLessThan(2 * 1024 * 1024);
});

test('one that reads goes on, whatever comes, and nothing is written after its end', async () => {
  reader.resume();
  for (let written = 0; written < CHUNKS_MAX; written += 1) {
    writeBounded(response, CHUNK);
    if (response.writableNeedDrain) await once(response, 'drain');
  }
  expect(response.destroyed).toBe(false);
  response.end();
  expect(() => writeBounded(response, CHUNK)).not.toThrow();
});
