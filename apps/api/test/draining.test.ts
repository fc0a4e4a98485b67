/** An api process that is to end: what arrives on connections that there are is answered, and no new connection is taken. */
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin();
});
afterAll(() => api?.stop());

const ASK = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

function ask(socket: net.Socket, text = ASK): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (data) => resolve(data.toString()));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
    socket.write(text);
  });
}

test('a request on an idle connection is answered after the end began, and its client asked to close', async () => {
  const port = await api.listen();
  const idle = net.connect(port, '127.0.0.1');
  expect(await ask(idle)).toMatch(/^HTTP\/1.1 200/);
  void api.app.draining.begin();
  await delay(200);
  expect(await ask(idle)).toMatch(/^HTTP\/1.1 200[\s\S]*\r\nconnection: close\r\n/i);
  const late = net.connect(port, '127.0.0.1');
  await expect(ask(late)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  idle.destroy();
});

test('a connection whose request was under way when the server was closed has its next one answered too', async () => {
  const ending = await OwnApi.begin();
  try {
    const busy = net.connect(await ending.listen(), '127.0.0.1');
    busy.write(
      'POST /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    );
    await delay(100);
    const closed = ending.app.nest.close();
    await delay(100);
    expect(await ask(busy, '}')).toMatch(/^HTTP\/1.1 405/);
    expect(await ask(busy)).toMatch(/^HTTP\/1.1 200/);
    busy.destroy();
    await closed;
  } finally {
    await ending.stop();
  }
});
