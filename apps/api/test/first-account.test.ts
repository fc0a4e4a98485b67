/** The first account of a fresh control plane: by its link once, and never twice. */
import { storeFirstLink } from '@holdfast/database/queries/first-account.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';

let api: OwnApi;
let beside: OwnApi;
let pool: Pool;

beforeAll(async () => {
  api = await OwnApi.begin();
  beside = await OwnApi.beside(api);
  pool = createPool(api.database.systemUrl, { connectionsMax: 2, applicationName: 'first-account' });
});
afterAll(async () => {
  await pool?.end();
  await beside?.app.nest.close();
  await api?.stop();
});
beforeEach(async () => {
  await api.owner.query('DELETE FROM app_user');
});

const store = (secret: string, now = new Date()) => {
  const { organizationId } = api.seed;
  return transaction(systemScope(pool), (sql) => storeFirstLink(sql, { organizationId, secret, now }));
};
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const make = (secret: string, email = 'ada@example.test', by = api) => {
  const body = { secret, email, name: 'Ada', password: 'correct horse battery' };
  const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  return by.call('POST', '/first-account', { token: null, body, headers });
};
const owners = async () => (await api.owner.query(`SELECT FROM membership WHERE role = 'owner'`)).rowCount;

test('the link makes an owner who can sign in, and works once', async () => {
  expect(await store('hfl_one')).toBe(true);
  expect(await make('hfl_one')).toMatchObject({ status: 201, body: { email: 'ada@example.test' } });
  const body = { email: 'ada@example.test', password: 'correct horse battery' };
  expect(await api.call('POST', '/sessions', { token: null, body })).toMatchObject({
    status: 201,
    body: { role: 'owner', organizationId: api.seed.organizationId },
  });
  const again = await make('hfl_one', 'eve@example.test');
  expect(again).toMatchObject({ status: 404, body: { code: 'first_link.not_found' } });
  const { rows } = await api.owner.query(
    `SELECT actor_kind, trace_id FROM audit_entry WHERE action = 'POST /api/v1/first-account' AND result = 'done'`,
  );
  expect(rows).toEqual([{ actor_kind: 'user/first-link', trace_id: TRACE }]);
});

test('a newer link takes the place of an older one, and none is made where there is an owner', async () => {
  await store('hfl_old');
  await store('hfl_new');
  expect(await make('hfl_old')).toMatchObject({ status: 404 });
  expect(await make('hfl_new')).toMatchObject({ status: 201 });
  expect(await store('hfl_late')).toBe(false);
});

test('a link that is open makes no second owner beside one who came another way', async () => {
  await store('hfl_open');
  await api.owner.query(
    `WITH made AS (INSERT INTO app_user (id, email, name, created_at)
       VALUES (gen_random_uuid(), 'owner@example.test', 'Owner', now()) RETURNING id)
     INSERT INTO membership (organization_id, user_id, role, created_at) SELECT $1, id, 'owner', now() FROM made`,
    [api.seed.organizationId],
  );
  expect(await make('hfl_open')).toMatchObject({ status: 404 });
  expect(await owners()).toBe(1);
});

test('after an hour it is over', async () => {
  await store('hfl_late', new Date(Date.now() - 3_600_001));
  expect(await make('hfl_late')).toMatchObject({ status: 404 });
});

test('of many who use it at once in two processes, one becomes the owner', async () => {
  await store('hfl_race');
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      make('hfl_race', `u${index}@example.test`, index % 2 === 0 ? api : beside),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404, 404]);
  expect(await owners()).toBe(1);
});

test('its secret is stored as a hash only', async () => {
  await store('hfl_hidden');
  const { rows } = await api.owner.query('SELECT to_jsonb(l)::text AS text FROM first_link l');
  expect(rows[0].text).not.toContain('hfl_hidden');
});
