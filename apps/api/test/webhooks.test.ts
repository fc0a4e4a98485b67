import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { pruneHistory } from '@holdfast/database/store/prune.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

const BODY = { name: 'pager', url: 'https://hooks.example.test/holdfast', filter: 'severity=error' };
const codeOf = ({ status, body }: Answer) => [status, body.code];
const create = (body: object = {}, options: object = {}) =>
  api.call('POST', '/webhooks', { body: { ...BODY, ...body }, ...options });
const pathOf = ({ body }: Answer) => `/webhooks/${body.id}`;

/** A delivery as the worker leaves it. */
async function aDelivery({ body }: Answer, state: string, age = '1 minute'): Promise<string> {
  const { rows } = await api.owner.query(
    `INSERT INTO webhook_delivery (id, organization_id, webhook_id, cluster_id, transaction_id, event_id, type, body, state,
       attempts, next_attempt_at, created_at)
     VALUES (gen_random_uuid(), $1, $2, $3, 7, 9, 'NodeReady', '{}', $4, 1, now(), now() - $5::interval) RETURNING id`,
    [api.seed.organizationId, body.id, api.seed.clusterId, state, age],
  );
  return rows[0].id;
}

describe('a webhook', () => {
  test('shows its secret once, and nowhere else', async () => {
    const made = await create({}, { headers: { 'idempotency-key': 'one' } });
    expect(made).toMatchObject({
      status: 201,
      body: { ...BODY, isEnabled: true, secret: expect.stringMatching(/^whsec_.{44}$/) },
    });
    const again = await create({}, { headers: { 'idempotency-key': 'one' } });
    expect(codeOf(again)).toEqual([409, 'idempotency.secret_not_kept']);
    const shown = [await api.call('GET', pathOf(made)), await api.call('GET', '/webhooks')];
    expect(shown.map(({ status }) => status)).toEqual([200, 200]);
    await api.call('PATCH', pathOf(made), { body: { url: `${BODY.url}/2` } });
    const audit = await api.call('GET', '/audit');
    expect(JSON.stringify([shown, audit.body])).not.toContain('whsec_');
    expect(JSON.stringify(audit.body)).toContain(`"after":{"url":"${BODY.url}/2"}`);
  });

  test('is changed under its version', async () => {
    const made = await create();
    const headers = { 'if-match': String(made.headers.etag) };
    const change = { body: { isEnabled: false, name: 'other' }, headers };
    const changed = await api.call('PATCH', pathOf(made), change);
    expect(changed).toMatchObject({ status: 200, body: { isEnabled: false, name: 'other', url: BODY.url } });
    expect(codeOf(await api.call('PATCH', pathOf(made), change))).toEqual([412, 'request.stale']);
    expect((await api.call('DELETE', pathOf(made))).status).toBe(204);
    expect(codeOf(await api.call('GET', pathOf(made)))).toEqual([404, 'webhook.not_found']);
  });

  test.each([
    { name: 'what is no address', wrong: { url: 'b2' } },
    { name: 'an address of no HTTP', wrong: { url: 'ftp://example.test' } },
    { name: 'an address with a user', wrong: { url: 'https://me@example.test' } },
    { name: 'an address of this machine', wrong: { url: 'https://127.0.0.1/x' } },
    { name: 'a name of this machine', wrong: { url: 'https://localhost:8443/x' } },
    { name: 'an address of this machine as IPv6 has it', wrong: { url: 'https://[::ffff:127.0.0.1]/x' } },
    { name: 'an address of a cloud for its machines', wrong: { url: 'http://169.254.169.254/latest' } },
    { name: 'an address in a network of its operator', wrong: { url: 'https://10.1.2.3/x' } },
    { name: "plain HTTP to an address that is not the operator's", wrong: { url: 'http://93.184.215.14/x' } },
    { name: 'a filter of no field', wrong: { filter: 'colour=red' } },
    { name: 'a filter that ends early', wrong: { filter: 'type=' } },
  ])('is refused with $name', async ({ wrong }) => {
    expect(codeOf(await create(wrong))).toEqual([422, 'request.invalid']);
    const made = await create();
    expect(codeOf(await api.call('PATCH', pathOf(made), { body: wrong }))).toEqual([422, 'request.invalid']);
  });

  test('gets another secret, beside which the one before signs for a while', async () => {
    const made = await create();
    const rotated = await api.call('POST', `${pathOf(made)}/rotate-secret`, { body: { overlapHours: 1 } });
    expect(rotated).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } });
    await api.call('POST', `${pathOf(made)}/rotate-secret`, { body: {} });
    const { rows } = await api.owner.query(
      `SELECT secret, valid_until > now() AS overlaps FROM webhook_secret WHERE webhook_id = $1 ORDER BY created_at`,
      [made.body.id],
    );
    // Of three the first is gone: two sign at most.
    expect(rows).toEqual([
      { secret: rotated.body.secret, overlaps: true },
      { secret: expect.stringMatching(/^whsec_/), overlaps: null },
    ]);
  });

  test('is not for tokens of a part of the organization', async () => {
    const made = await create();
    for (const limits of [{ clusterIds: [api.seed.clusterId] }, { projectIds: [api.seed.projectId] }]) {
      const { body } = await api.call('POST', '/tokens', {
        body: { name: 'part', role: 'admin', ...limits },
      });
      const token = String(body.token);
      expect(codeOf(await create({}, { token }))).toEqual([403, 'auth.forbidden']);
      expect(codeOf(await api.call('GET', pathOf(made), { token }))).toEqual([403, 'auth.forbidden']);
      expect(codeOf(await api.call('GET', '/webhooks', { token }))).toEqual([403, 'auth.forbidden']);
    }
  });

  test('the role that tenants ask by reads no secret', async () => {
    const pool = createPool(api.database.apiUrl, { connectionsMax: 1, applicationName: 'test' });
    await expect(pool.query('SELECT secret FROM webhook_secret')).rejects.toThrow('permission denied');
    await pool.end();
  });
});

describe('the log of deliveries', () => {
  test('is listed, and what is done with is sent once more', async () => {
    const made = await create();
    const [failed, waiting] = [await aDelivery(made, 'failed'), await aDelivery(made, 'waiting')];
    const path = `${pathOf(made)}/deliveries`;
    const listed = await api.call('GET', `${path}?filter=state=failed`);
    expect(listed.body.items).toMatchObject([{ id: failed, eventId: '7-9', nextAttemptAt: null }]);
    const again = await api.call('POST', `${path}/${failed}/redeliver`, { body: {} });
    expect(again).toMatchObject({ status: 202, body: { id: failed, state: 'waiting', attempts: 0 } });
    const refused = await api.call('POST', `${path}/${waiting}/redeliver`, { body: {} });
    expect(codeOf(refused)).toEqual([409, 'delivery.waiting']);
    const query = `{ webhooks { items: edges { node { id name } } } webhook(webhookId: "${made.body.id}") { filter } }`;
    const { body } = await api.graphql(query);
    expect(body.data.webhook).toEqual({ filter: BODY.filter });
  });

  test('is kept for two weeks, and what waits for as long as it does', async () => {
    const made = await create();
    const kept = [await aDelivery(made, 'waiting', '20 days'), await aDelivery(made, 'failed', '13 days')];
    await aDelivery(made, 'delivered', '15 days');
    const pool = createPool(api.database.systemUrl, { connectionsMax: 1, applicationName: 'test' });
    await pruneHistory(systemScope(pool), new Date());
    await pool.end();
    const listed = await api.call('GET', `${pathOf(made)}/deliveries?sort=createdAt`);
    expect(listed.body.items?.map(({ id }) => id)).toEqual(kept);
  });
});

test('an organization has a bounded number of webhooks', async () => {
  await api.owner.query(
    `INSERT INTO webhook (id, organization_id, name, url, filter, transaction_id, event_id, created_at)
     SELECT gen_random_uuid(), $1, 'n', 'https://x.test', '', 0, 0, now() FROM generate_series(1, 50)`,
    [api.seed.organizationId],
  );
  expect(codeOf(await create())).toEqual([409, 'webhook.too_many']);
});
