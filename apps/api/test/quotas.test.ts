import { randomUUID } from 'node:crypto';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RefusedWrites } from '../src/access/refused-writes.js';
import type { Answer } from './api-fixture.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;
let ofOrganization: string;

beforeAll(async () => {
  api = await OwnApi.begin();
  ofOrganization = `/organizations/${api.seed.organizationId}/quota`;
});
afterAll(() => api?.stop());

const codeOf = ({ status, body }: Answer) => [status, body.code];

async function aProject(limits: object = {}): Promise<{ projectId: string; quota: string }> {
  const { body } = await api.call('POST', '/projects', { body: { name: randomUUID() } });
  const quota = `/projects/${body.id}/quota`;
  expect((await api.call('PUT', quota, { body: limits })).status).toBe(200);
  return { projectId: String(body.id), quota };
}

const create = (projectId: string, body: object = {}) =>
  api.call('POST', api.volumes, {
    body: { name: `v-${randomUUID().slice(0, 8)}`, size: GIB, projectId, ...body },
  });

describe('the quota of a project', () => {
  test('is shown with what is used, and set under its version', async () => {
    const { projectId, quota } = await aProject({ volumes: 5 });
    await create(projectId, { numberOfReplicas: 2 });
    const read = await api.call('GET', quota);
    expect(read.body).toMatchObject({
      limits: { volumes: 5, snapshots: null, physicalBytes: null },
      used: { volumes: 1, provisionedBytes: GIB, physicalBytes: 2 * GIB, snapshots: 0, runningRebuilds: 0 },
    });
    const headers = { 'if-match': String(read.headers.etag) };
    const put = () => api.call('PUT', quota, { body: { snapshots: 3 }, headers });
    expect(await put()).toMatchObject({ status: 200, body: { limits: { volumes: null, snapshots: 3 } } });
    expect(codeOf(await put())).toEqual([412, 'request.stale']);
    const query = `query { projectQuota(projectId: "${projectId}") { used { volumes } limits { snapshots } } }`;
    const { body } = await api.graphql(query);
    expect(body.data.projectQuota).toEqual({ used: { volumes: 1 }, limits: { snapshots: 3 } });
    const wrong = await api.call('PUT', quota, { body: { volumes: -1, provisionedBytes: 2 ** 60 } });
    expect(codeOf(wrong)).toEqual([422, 'request.invalid']);
  });

  test('refuses what passes it, with the numbers and what would help', async () => {
    const { projectId } = await aProject({ volumes: 1 });
    const first = await create(projectId);
    expect(await create(projectId)).toMatchObject({
      status: 429,
      body: {
        code: 'quota.exceeded',
        title: 'Over a quota',
        retryable: false,
        detail: 'the project may have 1 of volumes; it has 1, and this needs 1 more',
        cures: ['delete volumes that are not needed', 'ask an admin to raise the quota of the project'],
      },
    });
    const path = `${api.volumes}/${first.body.id}`;
    await aQuota(projectId, { physicalBytes: 3 * GIB });
    const more = await api.call('PATCH', path, { body: { numberOfReplicas: 4 } });
    expect(codeOf(more)).toEqual([429, 'quota.exceeded']);
    expect((await api.call('PATCH', path, { body: { numberOfReplicas: 1 } })).status).toBe(200);
  });

  test('holds for snapshots and clones', async () => {
    await api.node('node-1', 'zone-a');
    const { projectId } = await aProject({ snapshots: 1 });
    const { body: volume } = await create(projectId, { numberOfReplicas: 1 });
    await api.owner.query(
      `UPDATE volume SET state = 'attached', attached_node_id = (SELECT id FROM node LIMIT 1), epoch = 1,
         attachment = '{}', endpoint = '{"host":"127.0.0.1","port":1,"exportName":"x"}' WHERE id = $1`,
      [volume.id],
    );
    const take = () =>
      api.call('POST', `${api.volumes}/${volume.id}/snapshots`, { body: { name: randomUUID().slice(0, 8) } });
    const taken = await take();
    expect(taken.status).toBeLessThan(300);
    expect(codeOf(await take())).toEqual([429, 'quota.exceeded']);
    await aQuota(projectId, { provisionedBytes: GIB });
    await api.owner.query(`UPDATE snapshot SET state = 'ready' WHERE volume_id = $1`, [volume.id]);
    const clone = { name: 'copy', snapshotId: taken.body.id };
    const answer = await api.call('POST', `${api.volumes}/${volume.id}/clone`, { body: clone });
    expect(codeOf(answer)).toEqual([429, 'quota.exceeded']);
  });
});

async function aQuota(projectId: string, limits: object): Promise<void> {
  expect((await api.call('PUT', `/projects/${projectId}/quota`, { body: limits })).status).toBe(200);
}

describe('the quota of the organization', () => {
  test('holds for all projects together, and is set by owners', async () => {
    const { body } = await api.call('GET', ofOrganization);
    const { used } = body as { used?: { volumes: number } };
    const volumes = (used?.volumes ?? 0) + 1;
    const asAdmin = { body: { volumes: 1_000 }, token: await api.tokenOfRole('admin') };
    expect(codeOf(await api.call('PUT', ofOrganization, asAdmin))).toEqual([403, 'auth.forbidden']);
    expect((await api.call('PUT', ofOrganization, { body: { volumes } })).status).toBe(200);
    const [one, other] = [await aProject(), await aProject()];
    expect((await create(one.projectId)).status).toBe(201);
    expect(codeOf(await create(other.projectId))).toEqual([429, 'quota.exceeded']);
    expect((await api.call('PUT', ofOrganization, { body: {} })).status).toBe(200);
  });

  test('is not for who sees single projects only', async () => {
    const { projectId, quota } = await aProject();
    const token = await api.tokenOfRole('member');
    const { userId } = (await api.call('GET', '/sessions/current', { token })).body;
    await api.call('PUT', `/projects/${projectId}/members/${userId}`, { body: { role: 'viewer' } });
    expect((await api.call('GET', quota, { token })).status).toBe(200);
    expect(codeOf(await api.call('GET', ofOrganization, { token }))).toEqual([403, 'auth.forbidden']);
  });

  test('bounds the requests of a minute, each organization by itself', async () => {
    const { token, organizationId } = await api.otherTenant();
    const limits = { body: { requestsPerMinute: 3 }, token };
    expect((await api.call('PUT', `/organizations/${organizationId}/quota`, limits)).status).toBe(200);
    // Another process, to which the quota is new.
    const fresh = await OwnApi.beside(api);
    const ask = () => fresh.call('GET', '/projects', { token });
    const answers = [await ask(), await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    for (const [at, { headers }] of answers.entries()) {
      expect(headers['ratelimit-policy']).toBe('"organization";q=3;w=60');
      expect(headers.ratelimit).toMatch(
        new RegExp(`^"organization";r=${Math.max(0, 2 - at)};t=(60|[1-5]\\d)$`),
      );
    }
    expect(answers[3]).toMatchObject({ body: { code: 'request.rate_limited', retryable: true } });
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
    const write = await fresh.call('POST', '/projects', { token, body: { name: 'one too many' } });
    expect(codeOf(write)).toEqual([429, 'request.rate_limited']);
    await fresh.app.nest.get(RefusedWrites).flush();
    const { rows } = await api.owner.query(
      `SELECT action, reason FROM audit_entry WHERE organization_id = $1 AND result = 'refused'`,
      [organizationId],
    );
    expect(rows).toEqual([{ action: 'POST /api/v1/projects', reason: 'request.rate_limited' }]);
    const without = await fresh.call('GET', '/projects');
    expect(without.status).toBe(200);
    expect(Object.keys(without.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    await fresh.app.nest.close();
  });

  test('is told beside that of the project of the token', async () => {
    const { token, organizationId } = await api.otherTenant();
    const { body: project } = await api.call('POST', '/projects', { token, body: { name: 'limited' } });
    const { body: made } = await api.call('POST', '/tokens', {
      token,
      body: { name: 'of the project', projectId: project.id },
    });
    for (const [path, requestsPerMinute] of [
      [`/organizations/${organizationId}/quota`, 10],
      [`/projects/${project.id}/quota`, 2],
    ])
      await api.call('PUT', String(path), { token, body: { requestsPerMinute } });
    const fresh = await OwnApi.beside(api);
    const ask = () => fresh.call('GET', '/projects', { token: String(made.token) });
    const { headers } = await ask();
    expect(headers['ratelimit-policy']).toBe('"organization";q=10;w=60, "project";q=2;w=60');
    expect(headers.ratelimit).toMatch(/^"organization";r=9;t=\d+, "project";r=1;t=\d+$/);
    const stream = await fetch(`http://127.0.0.1:${await fresh.listen()}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${made.token}` },
    });
    expect(stream.headers.get('ratelimit')).toMatch(/^"organization";r=8;t=\d+, "project";r=0;t=\d+$/);
    await stream.body?.cancel();
    expect(await ask()).toMatchObject({
      status: 429,
      headers: { ratelimit: expect.stringMatching(/^"organization";r=7;t=\d+, "project";r=0;t=\d+$/) },
    });
    await fresh.app.nest.close();
  });

  describe('in two api processes', () => {
    const perMinute = 60;

    async function besideWithQuota() {
      const { token, organizationId } = await api.otherTenant();
      const limits = { body: { requestsPerMinute: perMinute }, token };
      expect((await api.call('PUT', `/organizations/${organizationId}/quota`, limits)).status).toBe(200);
      const processes = [await OwnApi.beside(api), await OwnApi.beside(api)] as const;
      const answered = async (from: readonly OwnApi[], requests: number) => {
        const each = Math.ceil(requests / from.length);
        const asked = from.flatMap((at) =>
          Array.from({ length: each }, () => at.call('GET', '/projects', { token })),
        );
        const statuses = (await Promise.all(asked)).map(({ status }) => status);
        expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
        return statuses.filter((status) => status === 200).length;
      };
      const close = () => Promise.all(processes.map(({ app }) => app.nest.close()));
      return { processes, answered, close };
    }

    test('bounds the requests of both together, whichever they come to', async () => {
      const { processes, answered, close } = await besideWithQuota();
      const [one, other] = processes;
      expect(await answered(processes, 20)).toBe(20);
      expect(await answered([other], 10)).toBe(10);
      expect(await answered(processes, 2 * perMinute)).toBe(perMinute - 30);
      expect(await answered([one], 1)).toBe(0);
      await close();
    });

    test('leaves most of it to one where the other has few', async () => {
      const { processes, answered, close } = await besideWithQuota();
      const [one, other] = processes;
      expect(await answered([one], 1)).toBe(1);
      expect(await answered([other], 2 * perMinute)).toBeGreaterThanOrEqual(perMinute * 0.9);
      await close();
    });

    test('gives each a tenth of it while the count does not answer, and the rest after that', async () => {
      const { processes, answered, close } = await besideWithQuota();
      const tenth = perMinute / 10;
      await api.owner.query('BEGIN; LOCK TABLE request_permit IN ACCESS EXCLUSIVE MODE');
      try {
        expect(await answered(processes, 4 * tenth)).toBe(2 * tenth);
      } finally {
        await api.owner.query('ROLLBACK');
      }
      const later = await answered(processes, 3 * perMinute);
      expect(later).toBeGreaterThan(perMinute / 2);
      expect(later).toBeLessThanOrEqual(perMinute);
      await close();
    });
  });

  test('counts a GraphQL request as one for each of its root fields', async () => {
    const { token, organizationId } = await api.otherTenant();
    const limits = { body: { requestsPerMinute: 5 }, token };
    await api.call('PUT', `/organizations/${organizationId}/quota`, limits);
    const fresh = await OwnApi.beside(api);
    const fields = (names: string) =>
      [...names].map((name) => `${name}: projects { edges { cursor } }`).join(' ');
    const spread = `query { ...Four } fragment Four on Query { ${fields('abcd')} }`;
    const four = await fresh.graphql(spread, {}, token);
    expect(four.body.errors).toBeUndefined();
    expect(four.headers.ratelimit).toMatch(/^"organization";r=1;t=\d+$/);
    const deletion = `deleteProject(projectId: "${api.seed.projectId}")`;
    const refused = await fresh.graphql(`mutation { a: ${deletion} b: ${deletion} }`, {}, token);
    expect(refused).toMatchObject({
      status: 429,
      body: { errors: [{ extensions: { code: 'request.rate_limited' } }] },
    });
    expect((await fresh.call('GET', '/projects', { token })).status).toBe(429);
    await fresh.app.nest.get(RefusedWrites).flush();
    const { rows } = await api.owner.query(
      `SELECT action, reason FROM audit_entry WHERE organization_id = $1 AND result = 'refused'`,
      [organizationId],
    );
    expect(rows).toEqual([{ action: 'POST /graphql', reason: 'request.rate_limited' }]);
    await fresh.app.nest.close();
  });
});
