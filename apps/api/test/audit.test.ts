/** What the audit log tells of writes and sign-ins, done or refused, over HTTP; and its filter, export and verification. */

import { eventually } from '@holdfast/testkit/eventually.js';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RefusedWrites } from '../src/access/refused-writes.js';
import type { CallOptions, Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const IN_TRACE = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
const EMAIL = 'admin@holdfast.local';

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin();
});
afterAll(() => api?.stop());

/** The entry of the request, which may be written a moment after its answer. */
async function entryOf(requestId: string): Promise<Json> {
  const read = async () => (await api.call('GET', `/audit?filter=requestId=${requestId}`)).body.items ?? [];
  const [entry] = await eventually(`an entry of ${requestId}`, read, ({ length }) => length > 0);
  if (entry === undefined) throw new Error('no entry');
  return entry;
}

let count = 0;
/** Makes a request under an id of its own, and returns its answer with its entry. */
async function audited(method: string, path: string, options: CallOptions = {}) {
  count += 1;
  const requestId = `audit-test-${count}`;
  const headers = { ...options.headers, 'x-request-id': requestId };
  const answer = await api.call(method, path, { ...options, headers });
  return { answer, entry: await entryOf(requestId) };
}

describe('an entry', () => {
  test('of a change tells who, from where, in which trace, and what differs since', async () => {
    const volume = await api.createVolume({ numberOfReplicas: 2 });
    const { entry } = await audited('PATCH', `${api.volumes}/${volume.id}`, {
      body: { numberOfReplicas: 3 },
      headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    });
    expect(entry).toMatchObject({
      actor: { kind: 'user/api' },
      address: '127.0.0.1',
      action: 'PATCH /api/v1/clusters/:clusterId/volumes/:volumeId',
      target: { kind: 'volume', id: volume.id },
      result: 'done',
      reason: '',
      traceId: TRACE,
      before: { number_of_replicas: 2 },
      after: { number_of_replicas: 3 },
    });
    expect(Object.keys(entry.before as object)).not.toContain('name');
  });

  test('of what was made names it, and of what was deleted tells all that it held', async () => {
    const made = await audited('POST', '/projects', { body: { name: 'audited' } });
    expect(made.entry).toMatchObject({ detail: { created: made.answer.body.id } });
    const token = await audited('POST', '/tokens', { body: { name: 'short-lived', role: 'viewer' } });
    const revoked = await audited('DELETE', `/tokens/${token.answer.body.id}`);
    expect(revoked.entry).toMatchObject({
      before: { name: 'short-lived', role: 'viewer' },
      after: null,
    });
  });

  test('of a setting tells its values', async () => {
    const path = `/clusters/${api.seed.clusterId}/settings/event-retention-days`;
    await audited('PUT', path, { body: { value: 8 } });
    const { entry } = await audited('PUT', path, { body: { value: 9 } });
    expect(entry).toMatchObject({ target: { kind: 'setting' }, before: { value: 8 }, after: { value: 9 } });
  });

  test('holds no secret, neither of tokens nor of copies nor of sign-ins', async () => {
    const token = await audited('POST', '/tokens', { body: { name: 'rotated', role: 'viewer' } });
    const rotated = await audited('POST', `/tokens/${token.answer.body.id}/rotate`);
    expect(rotated.entry).toMatchObject({ before: { secret_hash: '[hidden]' } });
    const { rows } = await api.owner.query(
      `SELECT secret AS value FROM replica UNION SELECT secret_hash FROM token UNION SELECT password_hash FROM app_user
       UNION SELECT control_secret FROM node UNION SELECT attachment_secret FROM volume`,
    );
    const secrets = [
      TEST_SECRETS.password,
      TEST_SECRETS.token,
      token.answer.body.token,
      rotated.answer.body.token,
    ];
    for (const { value } of rows) if (value !== null) secrets.push(value);
    const log = JSON.stringify((await api.owner.query('SELECT * FROM audit_entry')).rows);
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

describe('a refusal is told', () => {
  test.each([
    {
      what: 'of a role',
      code: 'auth.forbidden',
      method: 'POST',
      path: () => '/projects',
      body: { name: 'x' },
      role: 'viewer',
    },
    {
      what: 'of a body',
      code: 'request.invalid',
      method: 'POST',
      path: () => '/projects',
      body: { name: 3 },
    },
    {
      what: 'of the state of things',
      code: 'project.name_taken',
      method: 'POST',
      path: () => '/projects',
      body: { name: 'default' },
    },
    {
      what: 'of a volume that is not there',
      code: 'volume.not_found',
      method: 'DELETE',
      path: () => `${api.volumes}/${api.seed.projectId}`,
    },
  ])('$what', async ({ code, method, path, body, role }) => {
    const token = role === undefined ? undefined : await api.tokenOfRole(role);
    const { answer, entry } = await audited(method, path(), {
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(entry).toMatchObject({ result: 'refused', reason: code, before: null, after: null });
  });

  test('of a token that is used from elsewhere, by REST and by a mutation', async () => {
    const { body } = await api.call('POST', '/tokens', {
      body: { name: 'far', addressRanges: ['10.0.0.0/8'] },
    });
    const token = String(body.token);
    const { answer, entry } = await audited('POST', '/projects', {
      token,
      body: { name: 'x' },
      headers: IN_TRACE,
    });
    expect(answer.status).toBe(403);
    const told = { result: 'refused', reason: 'auth.forbidden', address: '127.0.0.1' };
    expect(entry).toMatchObject({ ...told, traceId: TRACE, detail: { tokenId: body.id } });
    await api.graphql('query { projects { edges { cursor } } }', {}, token);
    await api.graphql(`mutation { deleteProject(projectId: "${api.seed.projectId}") }`, {}, token);
    await api.app.nest.get(RefusedWrites).flush();
    const { rows } = await api.owner.query(
      `SELECT result, reason, address FROM audit_entry WHERE action = 'POST /graphql'`,
    );
    expect(rows).toEqual([told]);
  });

  test('of a mutation', async () => {
    const mutation = `mutation($clusterId: ID!) { deleteVolume(clusterId: $clusterId, volumeId: "${api.seed.projectId}") { id } }`;
    await api.graphql(mutation);
    const read = async () =>
      (await api.call('GET', '/audit?filter=action="mutation deleteVolume"')).body.items ?? [];
    const [entry] = await eventually('the refusal is listed', read, ({ length }) => length > 0);
    expect(entry).toMatchObject({
      result: 'refused',
      reason: 'volume.not_found',
      target: { kind: 'volume' },
    });
  });

  test('but not of a read, and of many at once only how many', async () => {
    await api.call('GET', `${api.volumes}/${api.seed.projectId}`);
    const refused = api.app.nest.get(RefusedWrites);
    await refused.flush();
    const target = { kind: 'volume', id: 'v' };
    const { organizationId } = api.seed;
    for (let n = 0; n < 60; n += 1) {
      const actor = { kind: 'user/api', id: 'u' };
      const facts = {
        action: 'many',
        address: '',
        traceId: '',
        requestId: `many-${n}`,
        detail: {},
        at: new Date(),
      };
      refused.note({ organizationId, actor, target, ...facts, reason: 'volume.not_found' });
    }
    await refused.flush();
    const many = await api.owner.query(`SELECT FROM audit_entry WHERE action = 'many'`);
    expect(many.rowCount).toBe(50);
    const summary = await api.call('GET', '/audit?limit=1&filter=action="further refusals"');
    expect(summary.body.items).toMatchObject([{ actor: { kind: 'system' }, detail: { others: 10 } }]);
    const reads = await api.owner.query(`SELECT FROM audit_entry WHERE action LIKE 'GET %'`);
    expect(reads.rowCount).toBe(0);
  });
});

test('sign-ins are told, and the failed ones of known accounts', async () => {
  const signIn = (password: string) =>
    audited('POST', '/sessions', { token: null, body: { email: EMAIL, password } });
  const failed = await signIn('wrong-password');
  expect(failed.answer.status).toBe(401);
  expect(failed.entry).toMatchObject({ result: 'refused', reason: 'auth.invalid', address: '127.0.0.1' });
  const done = await signIn(TEST_SECRETS.password);
  expect(done.entry).toMatchObject({
    result: 'done',
    actor: { id: done.answer.body.userId },
    target: { kind: 'user' },
  });
});

test('a sign-in of an unknown account is told to the organization that was made first, without what was typed', async () => {
  const typed = 'my-password-in-the-wrong-field@example.com';
  const body = { email: typed, password: 'wrong-password' };
  const { answer, entry } = await audited('POST', '/sessions', { token: null, body });
  expect(answer.status).toBe(401);
  expect(entry).toMatchObject({
    actor: { kind: 'unknown' },
    result: 'refused',
    reason: 'auth.invalid',
    detail: { accountHash: expect.stringMatching(/^[0-9a-f]{16}$/) },
  });
  expect(JSON.stringify(entry)).not.toContain('wrong');
});

describe('accepting an invitation', () => {
  const PASSWORD = 'a long enough sentence';
  const accept = (secret: unknown, password = PASSWORD) =>
    audited('POST', '/invitations/accept', {
      token: null,
      body: { secret, name: 'Ada', password },
      headers: IN_TRACE,
    });
  const invite = async (email: string, token: string) =>
    (await api.call('POST', '/invitations', { token, body: { email, role: 'viewer' } })).body.secret;

  test('is told with where it came from, and so is a secret that is none', async () => {
    const secret = await invite('told@example.test', TEST_SECRETS.token);
    const from = { address: '127.0.0.1', traceId: TRACE };
    expect((await accept(secret)).entry).toMatchObject({ result: 'done', ...from });
    const refused = { result: 'refused', reason: 'invitation.not_found', ...from };
    expect((await accept('guessed')).entry).toMatchObject({ ...refused, actor: { kind: 'unknown' } });
  });

  test('with a wrong password is told to the organization of the account, and closes the account after ten', async () => {
    await accept(await invite('guessed@example.test', TEST_SECRETS.token));
    const { token } = await api.otherTenant();
    const guess = async (at: number) =>
      accept(await invite('guessed@example.test', token), `${PASSWORD} ${at}`);
    const { answer, entry } = await guess(0);
    expect(answer.status).toBe(401);
    expect(entry).toMatchObject({ reason: 'auth.invalid', actor: { kind: 'user/session' }, traceId: TRACE });
    for (let at = 1; at < 10; at += 1) expect((await guess(at)).answer.status).toBe(401);
    const { answer: closed, entry: told } = await guess(10);
    expect(closed.status).toBe(429);
    expect(told).toMatchObject({ reason: 'request.rate_limited' });
    const body = { email: 'guessed@example.test', password: PASSWORD };
    expect((await api.call('POST', '/sessions', { token: null, body })).status).toBe(429);
    await api.owner.query('DELETE FROM sign_in_limit');
  });
});

test("a program's sign-in is told with its trace, and a code that is none, but not that it waits", async () => {
  const from = { address: '127.0.0.1', traceId: TRACE };
  const ask = { token: null, headers: IN_TRACE };
  const unknown = await audited('POST', '/device/token', { ...ask, body: { deviceCode: 'guessed' } });
  expect(unknown.entry).toMatchObject({ result: 'refused', reason: 'device.not_found', ...from });
  const { body } = await api.call('POST', '/device/start', { token: null, body: { name: 'a CLI' } });
  const taken = { ...ask, body: { deviceCode: body.deviceCode } };
  expect((await api.call('POST', '/device/token', taken)).status).toBe(409);
  const signedIn = { email: EMAIL, password: TEST_SECRETS.password };
  const session = await api.call('POST', '/sessions', { token: null, body: signedIn });
  await api.call('POST', `/device/${body.userCode}/approve`, { token: String(session.body.token) });
  expect((await audited('POST', '/device/token', taken)).entry).toMatchObject({ result: 'done', ...from });
  await api.app.nest.get(RefusedWrites).flush();
  const { rowCount } = await api.owner.query(`SELECT FROM audit_entry WHERE reason = 'device.waiting'`);
  expect(rowCount).toBe(0);
});

test('that an account was closed is told once, not for each further attempt', async () => {
  await api.owner.query('DELETE FROM sign_in_limit');
  const body = { email: EMAIL, password: 'wrong-password' };
  for (let at = 0; at < 15; at += 1) await api.call('POST', '/sessions', { token: null, body });
  const filter = 'action="POST /api/v1/sessions" AND reason="request.rate_limited"';
  const read = async () => (await api.call('GET', `/audit?filter=${encodeURIComponent(filter)}`)).body.items;
  const told = await eventually(
    'that it was closed',
    read,
    (items) => items !== undefined && items.length > 0,
  );
  expect(told).toMatchObject([{ result: 'refused', target: { kind: 'user' } }]);
  await api.owner.query('DELETE FROM sign_in_limit');
});

describe('the log', () => {
  const raw = (query: string) =>
    api.send({
      url: `/api/v1/audit/export?${query}`,
      headers: { authorization: `Bearer ${TEST_SECRETS.token}` },
    });

  test('is exported oldest first, in parts, and as a table that no spreadsheet runs', async () => {
    await api.owner.query(
      `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id, at)
       VALUES ($1, 'user', '=1+1', 'a "test", and more', 'volume', 'v', 'exported', now())`,
      [api.seed.organizationId],
    );
    const lines = (await raw('limit=700')).body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines).toEqual([...lines].sort((a, b) => a - b));
    const rest = await raw(`after=${lines[2]}&limit=2`);
    expect(
      rest.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(lines.slice(3, 5));
    const csv = await raw('format=csv&filter=requestId=exported');
    expect(csv.headers['content-type']).toContain('text/csv');
    expect(csv.body.split('\r\n')[1]).toContain(`,user,'=1+1,,"a ""test"", and more",volume,v,done,`);
    const long = Array.from({ length: 10 }, () => 'id>0').join(' AND ');
    for (const filter of ['nonsense', long]) {
      expect((await raw(`filter=${encodeURIComponent(filter)}`)).statusCode).toBe(422);
    }
  });

  test('is verified by its administrators, and names the entry that was changed', async () => {
    const verify = (token?: string) =>
      api.call('POST', '/audit/verify', { ...(token === undefined ? {} : { token }) });
    expect((await verify(await api.tokenOfRole('operator'))).status).toBe(403);
    const before = await verify();
    expect(before.body).toMatchObject({ intact: true, broken: null, nextAfter: null, unsealed: 0 });
    const { rows } = await api.owner.query(
      'SELECT sequence, entry_id FROM audit_link ORDER BY sequence LIMIT 1 OFFSET 4',
    );
    await api.owner.query('ALTER TABLE audit_entry DISABLE TRIGGER only_grows');
    await api.owner.query(`UPDATE audit_entry SET reason = 'other' WHERE id = $1`, [rows[0].entry_id]);
    await api.owner.query('ALTER TABLE audit_entry ENABLE TRIGGER only_grows');
    expect((await verify()).body).toMatchObject({
      intact: false,
      broken: { sequence: Number(rows[0].sequence), entryId: Number(rows[0].entry_id), why: 'entry-changed' },
    });
  });
});
