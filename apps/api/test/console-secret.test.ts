/** Over the loopback the console's word for a user's address is taken, and no other program's. */
import { randomUUID } from 'node:crypto';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';

const SECRET = randomUUID();
const FROM_AFAR = { 'x-forwarded-for': '10.1.2.3', 'x-forwarded-proto': 'https' };

let api: OwnApi;
let origin: string;

beforeAll(async () => {
  api = await OwnApi.begin({ consoleSecret: SECRET });
  origin = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(() => api?.stop());

/** A token that may be used from 10.0.0.0/8 only. */
async function farToken(): Promise<string> {
  const body = { name: randomUUID(), addressRanges: ['10.0.0.0/8'] };
  return String((await api.call('POST', '/tokens', { body })).body.token);
}

async function ask(path: string, headers: Record<string, string>, token: string = TEST_SECRETS.token) {
  return fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
}

describe('an address that a request over the loopback tells', () => {
  test.each([
    ['by the console', { 'x-holdfast-console-secret': SECRET }, 200],
    ['by a program with no secret', {}, 403],
    ['by a program with a wrong one', { 'x-holdfast-console-secret': randomUUID() }, 403],
    ['by a program with a part of it', { 'x-holdfast-console-secret': SECRET.slice(1) }, 403],
  ])('is believed or not when it is told %s', async (_who, secret, status) => {
    const answer = await ask('/api/v1/projects', { ...FROM_AFAR, ...secret }, await farToken());
    expect(answer.status).toBe(status);
    // The protocol is believed, or not, together with the address.
    expect(answer.headers.has('strict-transport-security')).toBe(status === 200);
  });

  test("is not believed from a program whose address the console tells: it is a user's, and no proxy's", async () => {
    const told = { 'x-forwarded-for': '10.1.2.3, 127.0.0.1', 'x-holdfast-console-secret': SECRET };
    expect((await ask('/api/v1/projects', told, await farToken())).status).toBe(403);
  });

  test('opens no metrics to whoever is behind a proxy of this machine', async () => {
    expect((await ask('/metrics', FROM_AFAR)).status).toBe(403);
    expect((await ask('/metrics', {})).status).toBe(200);
  });
});

test("a proxy that the operator names needs no secret, and is believed beside the console's", async () => {
  const named = await OwnApi.begin({ consoleSecret: SECRET, trustedProxies: ['127.0.0.1'] });
  try {
    const url = `http://127.0.0.1:${await named.listen()}/api/v1/projects`;
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${TEST_SECRETS.token}`, ...FROM_AFAR },
    });
    expect(answer.headers.has('strict-transport-security')).toBe(true);
  } finally {
    await named.stop();
  }
});
