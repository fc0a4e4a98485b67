/** Pages that are sent at the same moment, from memory that is used again: none has bytes of another one. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';

/** Pages of so many take 600 kB. */
const VOLUMES = 200;
/** More than the system takes for a reader that reads nothing, so that the process has to hold the rest. */
const AT_ONCE = 30;

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin();
  await api.node('node-1', 'zone-a');
  await Promise.all(Array.from({ length: VOLUMES }, (_, index) => api.createVolume({ name: `v-${index}` })));
});
afterAll(() => api?.stop());

/** Sends all requests on one connection before it reads any answer. */
async function askAtOnce(paths: readonly string[]): Promise<string[]> {
  const socket = net.connect({ port: await api.listen(), host: '127.0.0.1' });
  const head = `HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${TEST_SECRETS.token}\r\n`;
  const requests = paths.map((path, index) => {
    const isLast = index === paths.length - 1;
    return `GET /api/v1${path} ${head}${isLast ? 'connection: close\r\n' : ''}\r\n`;
  });
  await once(socket, 'connect');
  socket.pause().write(requests.join(''));
  await sleep(1_000);
  const text = Buffer.concat(await socket.toArray()).toString();
  return text.split('HTTP/1.1 200 OK').map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

test('each answer is the page that was asked for', async () => {
  const paths = ['name', '-name'].map((sort) => `${api.volumes}?limit=${VOLUMES}&sort=${sort}`);
  const wanted: string[] = [];
  for (const path of paths) wanted.push(JSON.stringify((await api.call('GET', path)).body));
  const asked = Array.from({ length: AT_ONCE }, (_, index) => index % paths.length);
  const [, ...answers] = await askAtOnce(asked.map((index) => paths[index] ?? ''));
  expect(answers).toHaveLength(AT_ONCE);
  // Texts of a megabyte make no readable difference.
  expect(answers.map((answer) => wanted.indexOf(answer))).toEqual(asked);
});
