/** The documentation page: everything that it needs comes from its own origin, under a policy without inline scripts. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

const get = (url: string) => api.send({ method: 'GET', url });

test('it has no script of its own in it, and no address of another origin', async () => {
  const { statusCode, headers, body } = await get('/docs');
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toContain('text/html');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(body).not.toMatch(/<script(?![^>]*src="\/docs\/)|\son\w+=|style=|https?:/);
});

test('all that it names is served, under the same policy', async () => {
  const page = await get('/docs');
  const named = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
  expect(named).toHaveLength(4);
  for (const url of named) {
    const { statusCode, headers } = await get(url);
    expect({ url, statusCode }).toEqual({ url, statusCode: 200 });
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toBe(page.headers['content-security-policy']);
  }
  expect((await get('/docs/start.js')).body).toContain('/api/v1/openapi.json');
});

test('nothing else of the package is served', async () => {
  for (const url of [
    '/docs/index.html',
    '/docs/swagger-ui.js',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
  ])
    expect((await get(url)).statusCode).toBe(404);
});
