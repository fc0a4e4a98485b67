import { afterEach, describe, expect, test } from '@jest/globals';
import { HealthServer } from './health-server.js';

let server: HealthServer | undefined;

afterEach(() => server?.stop());

async function ask(path: string, database: () => Promise<unknown>, headers: Record<string, string> = {}) {
  const checks = { database, queue: async () => true };
  server = new HealthServer({ checks, metrics: async () => 'holdfast_up 1\n' });
  const port = await server.start(0, '127.0.0.1');
  return fetch(`http://127.0.0.1:${port}${path}`, { headers });
}

describe('HealthServer', () => {
  const fine = async () => undefined;
  const broken = () => Promise.reject(new Error('the database does not answer'));

  test.each([
    { path: '/livez', ready: broken, want: 200 },
    { path: '/readyz', ready: fine, want: 200 },
    { path: '/readyz', ready: broken, want: 503 },
    { path: '/readyz', ready: async () => false, want: 503 },
    { path: '/startupz', ready: fine, want: 200 },
    { path: '/startupz', ready: broken, want: 503 },
    { path: '/', ready: fine, want: 404 },
  ])('the path $path answers $want', async ({ path, ready, want }) => {
    expect((await ask(path, ready)).status).toBe(want);
  });

  test('lists what failed, and nothing of the error', async () => {
    expect(await (await ask('/readyz?verbose', broken)).json()).toEqual({
      status: 'unavailable',
      reason: 'database',
      checks: [
        { name: 'database', status: 'failed', detail: 'no answer' },
        { name: 'queue', status: 'ok' },
      ],
    });
  });

  test('has started once it was ready, whatever fails later', async () => {
    let isAway = false;
    const { url } = await ask('/startupz', () => (isAway ? broken() : fine()));
    isAway = true;
    expect((await fetch(new URL('/readyz', url))).status).toBe(503);
    expect((await fetch(new URL('/startupz', url))).status).toBe(200);
  });

  test("tells its metrics to the machine itself, and not to a proxy's callers", async () => {
    const answer = await ask('/metrics', fine);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toBe('holdfast_up 1\n');
    await server?.stop();
    expect((await ask('/metrics', fine, { 'x-forwarded-for': '10.0.0.7' })).status).toBe(403);
  });
});
