import { afterEach, describe, expect, test } from '@jest/globals';
import { HealthServer } from './health-server.js';

let server: HealthServer | undefined;

afterEach(() => server?.stop());

async function statusOf(path: string, ready: () => Promise<void>): Promise<number> {
  server = new HealthServer({ ready });
  const port = await server.start(0, '127.0.0.1');
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

describe('HealthServer', () => {
  const fine = async () => undefined;
  const broken = () => Promise.reject(new Error('the database does not answer'));

  test.each([
    { path: '/livez', ready: broken, want: 200 },
    { path: '/readyz', ready: fine, want: 200 },
    { path: '/readyz', ready: broken, want: 503 },
    { path: '/', ready: fine, want: 404 },
  ])('the path $path answers $want', async ({ path, ready, want }) => {
    expect(await statusOf(path, ready)).toBe(want);
  });
});
