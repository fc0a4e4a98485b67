import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

const codeOf = ({ status, body }: Answer) => [status, body.code];
const newName = (kind: string) => `${kind}-${randomUUID().slice(0, 8)}`;

async function made(path: string, body: object, token?: string): Promise<Json> {
  const answer = await api.call('POST', path, { body, ...(token === undefined ? {} : { token }) });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const PASSWORD = 'a long enough sentence';

/** A user who has accepted an invitation, and a session of it. */
async function joined(role: string): Promise<{ userId: string; token: string; email: string }> {
  const email = `${newName('user')}@example.test`;
  const { secret } = await made('/invitations', { email, role });
  const body = { secret, name: 'Ada', password: PASSWORD };
  const accepted = await api.call('POST', '/invitations/accept', { token: null, body });
  expect(accepted).toMatchObject({ status: 201, body: { email, role } });
  const session = await made('/sessions', { email, password: PASSWORD });
  return { userId: String(accepted.body.userId), token: String(session.token), email };
}

describe('projects', () => {
  test('are renamed under their version', async () => {
    const project = await made('/projects', { name: newName('p') });
    const path = `/projects/${project.id}`;
    const read = await api.call('GET', path);
    expect(read.headers.etag).toMatch(/^"1\b/);
    const name = newName('p');
    const first = await api.call('PATCH', path, { body: { name }, headers: { 'if-match': '"1"' } });
    expect(first).toMatchObject({ status: 200, headers: { etag: '"2"' }, body: { name, version: 2 } });
    const late = await api.call('PATCH', path, { body: { name: 'x' }, headers: { 'if-match': '"1"' } });
    expect(codeOf(late)).toEqual([412, 'request.stale']);
    const taken = await api.call('PATCH', path, { body: { name: 'default' } });
    expect(codeOf(taken)).toEqual([409, 'project.name_taken']);
    expect((await api.call('PATCH', path, { body: { name } })).body.version).toBe(2);
  });

  test('go when they hold no volumes', async () => {
    const project = await made('/projects', { name: newName('p') });
    const volume = await api.createVolume({ projectId: project.id });
    const path = `/projects/${project.id}`;
    expect(codeOf(await api.call('DELETE', path))).toEqual([409, 'project.not_empty']);
    await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [volume.id]);
    await api.owner.query('DELETE FROM volume WHERE id = $1', [volume.id]);
    const stale = await api.call('DELETE', path, { headers: { 'if-match': '"7"' } });
    expect(codeOf(stale)).toEqual([412, 'request.stale']);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(codeOf(await api.call('GET', path))).toEqual([404, 'project.not_found']);
  });
});

describe('organizations', () => {
  test('an owner renames the own one, and an admin may not', async () => {
    const path = `/organizations/${api.seed.organizationId}`;
    const admin = { token: await api.tokenOfRole('admin'), body: { name: 'Taken over' } };
    expect(codeOf(await api.call('PATCH', path, admin))).toEqual([403, 'auth.forbidden']);
    const name = newName('org');
    const answer = await api.call('PATCH', path, { body: { name }, headers: { 'if-match': '"1"' } });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"2"' }, body: { name } });
  });

  test('who creates one is its owner, and signs in to it by its id', async () => {
    const { token, email } = await joined('owner');
    const name = newName('org');
    const organization = await made('/organizations', { name }, token);
    expect(codeOf(await api.call('POST', '/organizations', { body: { name }, token }))).toEqual([
      409,
      'organization.name_taken',
    ]);
    const body = { email, password: PASSWORD, organizationId: organization.id };
    const session = await api.call('POST', '/sessions', { body, token: null });
    expect(session.body).toMatchObject({ organizationId: organization.id, role: 'owner' });
    const seen = await api.call('GET', '/clusters', { token: String(session.body.token) });
    expect(seen.body.items).toEqual([]);
    const elsewhere = { ...body, organizationId: (await api.otherTenant()).organizationId };
    const refused = await api.call('POST', '/sessions', { body: elsewhere, token: null });
    expect(codeOf(refused)).toEqual([401, 'auth.invalid']);
  });
});

describe('invitations', () => {
  test('are good for one use, and for who is invited', async () => {
    const email = `${newName('user')}@example.test`;
    const { id, secret } = await made('/invitations', { email: email.toUpperCase(), role: 'viewer' });
    expect((await api.call('GET', `/invitations/${id}`)).body).toMatchObject({ email, role: 'viewer' });
    const body = { secret, name: 'Ada', password: PASSWORD };
    const accept = () => api.call('POST', '/invitations/accept', { token: null, body });
    const read = () => api.call('POST', '/invitations/read', { token: null, body: { secret } });
    const { organizationName } = (await api.call('GET', '/sessions/current')).body;
    const { page, ...told } = (await read()).body;
    expect(told).toMatchObject({ organizationName, email, role: 'viewer' });
    expect(new URL(String(page))).toMatchObject({ pathname: '/invitation', hash: `#${secret}` });
    const answers = await Promise.all([accept(), accept(), accept()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
    expect(codeOf(await read())).toEqual([404, 'invitation.not_found']);
    const again = await api.call('POST', '/invitations', { body: { email, role: 'viewer' } });
    expect(codeOf(again)).toEqual([409, 'member.exists']);
  });

  test('an account that is there is joined with its password only', async () => {
    const { email, userId } = await joined('viewer');
    await api.owner.query('DELETE FROM membership WHERE user_id = $1', [userId]);
    const { secret } = await made('/invitations', { email, role: 'operator' });
    const accept = (password: string) =>
      api.call('POST', '/invitations/accept', { token: null, body: { secret, name: 'Eve', password } });
    expect(codeOf(await accept('a stranger guesses'))).toEqual([401, 'auth.invalid']);
    expect(await accept(PASSWORD)).toMatchObject({ status: 201, body: { userId, role: 'operator' } });
    expect((await api.call('GET', `/members/${userId}`)).body).toMatchObject({ name: 'Ada' });
  });

  test('end when they are withdrawn, expire or are replaced', async () => {
    const email = `${newName('user')}@example.test`;
    const invite = () => made('/invitations', { email, role: 'viewer' });
    const accept = async ({ secret }: Json) => {
      const body = { secret, name: 'Ada', password: PASSWORD };
      return codeOf(await api.call('POST', '/invitations/accept', { token: null, body }));
    };
    const replaced = await invite();
    const withdrawn = await invite();
    expect(await accept(replaced)).toEqual([404, 'invitation.not_found']);
    expect((await api.call('DELETE', `/invitations/${withdrawn.id}`)).status).toBe(204);
    expect(await accept(withdrawn)).toEqual([404, 'invitation.not_found']);
    const expired = await invite();
    await api.owner.query(`UPDATE invitation SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      expired.id,
    ]);
    expect(await accept(expired)).toEqual([404, 'invitation.not_found']);
  });

  test('give the role and the organization that they were made for, whatever is sent along', async () => {
    const { secret } = await made('/invitations', {
      email: `${newName('user')}@example.test`,
      role: 'viewer',
    });
    const accept = (more: object) =>
      api.call('POST', '/invitations/accept', {
        token: null,
        body: { secret, name: 'Eve', password: PASSWORD, ...more },
      });
    const other = await api.otherTenant();
    for (const more of [
      { role: 'owner' },
      { organizationId: other.organizationId },
      { email: 'eve@example.test' },
    ])
      expect(codeOf(await accept(more))).toEqual([422, 'request.invalid']);
    const { id } = await made('/invitations', { email: `${newName('user')}@example.test`, role: 'viewer' });
    for (const method of ['GET', 'DELETE'])
      expect((await api.call(method, `/invitations/${id}`, { token: other.token })).status).toBe(404);
    expect(await accept({})).toMatchObject({ status: 201, body: { role: 'viewer' } });
  });

  test('only owners invite owners, and the secret is not kept for a repeat', async () => {
    const body = { email: `${newName('user')}@example.test`, role: 'owner' };
    const asAdmin = await api.call('POST', '/invitations', { body, token: await api.tokenOfRole('admin') });
    expect(codeOf(asAdmin)).toEqual([403, 'auth.forbidden']);
    const headers = { 'idempotency-key': randomUUID() };
    expect((await api.call('POST', '/invitations', { body, headers })).status).toBe(201);
    const repeated = await api.call('POST', '/invitations', { body, headers });
    expect(codeOf(repeated)).toEqual([409, 'idempotency.secret_not_kept']);
  });
});

describe('members', () => {
  test('get another role, which holds at once', async () => {
    const { userId, token } = await joined('operator');
    const volume = await api.createVolume({ projectId: api.seed.projectId });
    const patch = () =>
      api.call('PATCH', `${api.volumes}/${volume.id}`, { token, body: { numberOfReplicas: 2 } });
    expect((await patch()).status).toBe(200);
    const read = await api.call('GET', `/members/${userId}`);
    const changed = await api.call('PATCH', `/members/${userId}`, {
      body: { role: 'viewer' },
      headers: { 'if-match': String(read.headers.etag) },
    });
    expect(changed).toMatchObject({ status: 200, body: { role: 'viewer', version: 2 } });
    expect(codeOf(await patch())).toEqual([403, 'auth.forbidden']);
    const late = { body: { role: 'admin' }, headers: { 'if-match': '"1"' } };
    expect(codeOf(await api.call('PATCH', `/members/${userId}`, late))).toEqual([412, 'request.stale']);
  });

  test('are removed with their tokens, which do not come back with them', async () => {
    const { userId, token, email } = await joined('operator');
    const own = await made('/tokens', { name: 'script' }, token);
    expect((await api.call('DELETE', `/members/${userId}`)).status).toBe(204);
    const { secret } = await made('/invitations', { email, role: 'operator' });
    const body = { secret, name: 'Ada', password: PASSWORD };
    expect((await api.call('POST', '/invitations/accept', { token: null, body })).status).toBe(201);
    const asBefore = await api.call('GET', '/projects', { token: String(own.token) });
    expect(codeOf(asBefore)).toEqual([401, 'auth.invalid']);
  });

  test('the last owner stays, also of two who leave at once', async () => {
    const owners = await api.call('GET', '/members?filter=role=owner');
    const others = (owners.body.items ?? []).map(({ userId }) => String(userId));
    const [last = '', ...rest] = others;
    for (const userId of rest) {
      await api.owner.query(`UPDATE membership SET role = 'admin' WHERE user_id = $1`, [userId]);
    }
    const alone = await api.call('PATCH', `/members/${last}`, { body: { role: 'viewer' } });
    expect(codeOf(alone)).toEqual([409, 'member.last_owner']);
    const { userId } = await joined('owner');
    const leave = (id: string) => api.call('DELETE', `/members/${id}`);
    const answers = await Promise.all([leave(userId), leave(userId), leave(last)]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    const { rows } = await api.owner.query(
      `SELECT count(*)::int AS owners FROM membership WHERE role = 'owner' AND organization_id = $1`,
      [api.seed.organizationId],
    );
    expect(rows).toEqual([{ owners: 1 }]);
  });
});
