import { createClient, isProblem } from '@holdfast/api-client/client.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let origin: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  origin = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(() => api?.stop());

test('the generated client speaks to the API it was generated from', async () => {
  const client = createClient({ origin, token: api.seed.token });
  const path = { clusterId: api.seed.clusterId };
  const created = await client.POST('/api/v1/clusters/{clusterId}/volumes', {
    params: { path },
    body: { name: 'by-client', size: GIB },
  });
  expect(created.data).toMatchObject({ name: 'by-client', size: GIB });
  const listed = await client.GET('/api/v1/clusters/{clusterId}/volumes', {
    params: { path, query: { filter: 'name=by-client', limit: 1 } },
  });
  expect(listed.data?.items.map(({ id }) => id)).toEqual([created.data?.id]);
  const refused = await client.POST('/api/v1/clusters/{clusterId}/volumes', {
    params: { path },
    body: { name: 'by-client', size: GIB },
  });
  expect(isProblem(refused.error) && refused.error.code).toBe('volume.name_taken');
});
