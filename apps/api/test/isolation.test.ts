/**
 * Every route that takes an id is asked with another tenant's ids, and every route is asked by a viewer: the list of
 * routes is the API's own, so a route that is added later is tested too.
 */

import { isAllowed, isAllowedInProject, ORGANIZATION_ROLES } from '@holdfast/access/permissions.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { ROUTE_OPTIONS, type RouteOptions } from '../src/access/route.decorator.js';
import { CONTROLLERS } from '../src/app/app.module.js';
import { REQUEST_EXAMPLES } from '../src/openapi/examples.js';
import { type FieldToAsk, fieldsWithIds } from './fields-with-ids.js';
import { FIELDS } from './graphql-table.js';
import { makeOneOfEach } from './one-of-each.js';
import { openApiDocument } from './openapi-document.js';
import { OwnApi } from './own-api.js';

type Operation = {
  operationId: string;
  path: string;
  method: string;
  access: RouteOptions['access'];
  takesIfMatch: boolean;
};

let api: OwnApi;
let foreign: { token: string; clusterId: string };
const ids: Record<string, string> = {};

const OPERATIONS = listOperations();

/** Fields without which a body would be refused before the API looks for the resource. */
const BODIES: Record<string, unknown> = {
  'POST /api/v1/clusters/{clusterId}/silences': {
    matcher: 'rule=NodeSilent',
    comment: 'stolen',
    // In a day: a machine that is slow enough asks a minute after this was read.
    endsAt: new Date(Date.now() + 86_400_000).toISOString(),
  },
  'POST /api/v1/clusters/{clusterId}/nodes/{nodeId}/maintenance': { until: '2100-01-01T00:00:00Z' },
  'POST /api/v1/clusters/{clusterId}/nodes/{nodeId}/disks': { path: '/mnt/stolen' },
  'POST /api/v1/clusters/{clusterId}/grants': { organizationId: '01a1fd5b-0000-7000-8000-000000000a01' },
  'POST /api/v1/clusters/{clusterId}/volumes': { name: 'stolen', size: GIB },
  'PUT /api/v1/clusters/{clusterId}/settings/{name}': { value: 0.5 },
  'PATCH /api/v1/clusters/{clusterId}': { name: 'stolen' },
  'PATCH /api/v1/members/{userId}': { role: 'viewer' },
  'PUT /api/v1/organizations/{organizationId}/sign-in-provider': REQUEST_EXAMPLES.signinprovider_put,
  'POST /api/v1/service-accounts/{serviceAccountId}/tokens': { name: 'stolen' },
  'PUT /api/v1/projects/{projectId}/members/{userId}': { role: 'viewer' },
  'POST /api/v1/clusters/{clusterId}/volumes/{volumeId}/clone': {
    snapshotId: '01a1fd5b-0000-7000-8000-000000000601',
    name: 'stolen',
  },
  'POST /api/v1/clusters/{clusterId}/volumes/{volumeId}/expand': { size: 2 * GIB },
  'POST /api/v1/clusters/{clusterId}/volumes/{volumeId}/accept-copies': REQUEST_EXAMPLES.volumes_acceptCopies,
  'PUT /api/v1/clusters/{clusterId}/volumes/{volumeId}/recurring-snapshots/{recurringName}': {
    cron: '@daily',
    retain: 1,
  },
  'POST /api/v1/clusters/{clusterId}/volumes/{volumeId}/revert': {
    snapshotId: '01a1fd5b-0000-7000-8000-000000000601',
  },
};

beforeAll(async () => {
  api = await OwnApi.begin();
  foreign = await api.otherTenant();
  Object.assign(ids, await makeOneOfEach(api));
});
afterAll(() => api?.stop());

describe('a change that names an older version is refused', () => {
  // No sign-in of a program waits for its code here: that there is none comes before what it would be compared with.
  const conditional = OPERATIONS.filter(
    ({ takesIfMatch, path }) => takesIfMatch && !path.includes('/device/'),
  );
  test.each(conditional.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s refuses it',
    async (_name, operation) => {
      const answer = await ask(operation, undefined, { 'if-match': '"999999"' });
      expect(answer).toMatchObject({ status: 412, body: { code: 'request.stale' } });
    },
  );
});

describe("another tenant's ids are not there", () => {
  // A public route's caller belongs to no tenant: it ends a sign-in that began in the same browser.
  const withIds = OPERATIONS.filter(
    ({ path, access }) => path.includes('{') && access !== 'agent' && access !== 'public',
  );
  test.each(withIds.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s does not find them',
    async (_name, operation) => {
      const answer = await ask(operation, foreign.token);
      expect(answer).toMatchObject({ status: 404 });
    },
  );

  test('lists show nothing of it', async () => {
    const mine = await api.call('GET', '/tokens', { token: foreign.token });
    expect(JSON.stringify(mine.body)).not.toContain(api.seed.organizationId);
    const clusters = await api.call('GET', '/clusters', { token: foreign.token });
    expect(clusters.body.items?.map(({ id }) => id)).not.toContain(api.seed.clusterId);
  });
});

describe('GraphQL fields', () => {
  let fields: FieldToAsk[];
  beforeAll(async () => {
    const { body } = await api.graphql(getIntrospectionQuery());
    // The answer to the query above, by the library that makes both.
    fields = fieldsWithIds(body.data as IntrospectionQuery, bodyOfField);
  });

  test("find nothing by another tenant's ids, creating and patching ones included", async () => {
    const codes = await codesOf(fields, foreign.token);
    expect(codes.filter(({ code }) => !code.endsWith('not_found'))).toEqual([]);
    expect(codes.length).toBeGreaterThan(130);
    expect(fields.filter(({ variables }) => variables.input !== undefined).length).toBeGreaterThan(35);
  });

  test("find nothing by another project's ids for a token that is limited to one", async () => {
    const { body: project } = await api.call('POST', '/projects', { body: { name: 'limited to' } });
    const limits = { name: 'limited', projectIds: [project.id] };
    const { body: token } = await api.call('POST', '/tokens', { body: limits });
    const ofVolumes = fields.filter(({ variables }) => 'volumeId' in variables || 'projectId' in variables);
    const codes = await codesOf(ofVolumes, String(token.token));
    expect(codes.filter(({ code }) => !code.endsWith('not_found') && code !== 'auth.forbidden')).toEqual([]);
    expect(codes.length).toBeGreaterThan(45);
  });
});

describe("an input about one's own object finds nothing by another tenant's ids", () => {
  const own: Record<string, string> = {};
  beforeAll(async () => {
    const { token, clusterId } = foreign;
    const body = { name: 'own', size: GIB, numberOfReplicas: 1 };
    const volume = await api.call('POST', `/clusters/${clusterId}/volumes`, { token, body });
    const projectId = String(volume.body.projectId);
    Object.assign(own, { clusterId, projectId, volumeId: volume.body.id });
  });

  const IN_VOLUME = 'POST /clusters/{clusterId}/volumes/{volumeId}';
  test.each<[string, string, (theirs: Record<string, string>) => object]>([
    [
      'POST /clusters/{clusterId}/volumes',
      'request.invalid',
      ({ projectId }) => ({ name: 'n', size: GIB, projectId }),
    ],
    ['POST /tokens', 'project.not_found', ({ projectId }) => ({ name: 't', projectId })],
    ['POST /tokens', 'project.not_found', ({ projectId }) => ({ name: 't', projectIds: [projectId] })],
    ['POST /tokens', 'cluster.not_found', ({ clusterId }) => ({ name: 't', clusterIds: [clusterId] })],
    [`${IN_VOLUME}/attach`, 'node.not_found', ({ nodeId }) => ({ nodeId })],
    [`${IN_VOLUME}/clone`, 'snapshot.not_found', ({ snapshotId }) => ({ name: 'n', snapshotId })],
    [`${IN_VOLUME}/revert`, 'snapshot.not_found', ({ snapshotId }) => ({ snapshotId })],
  ])('%s is refused with %s', async (operation, code, bodyOf) => {
    const [method = '', path = ''] = operation.split(' ');
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => own[name] ?? 'missing');
    const answer = await api.call(method, filled, { token: foreign.token, body: bodyOf(ids) });
    expect(answer.body.code).toBe(code);
  });

  test("a member of another organization gets no role in one's project", async () => {
    const path = `/projects/${own.projectId}/members/${ids.userId}`;
    const answer = await api.call('PUT', path, { token: foreign.token, body: { role: 'admin' } });
    expect(answer.body.code).toBe('member.not_found');
  });
});

test("no object is found by another tenant's id alone", async () => {
  const asked = Object.entries(ids).filter(([, id]) => /^[0-9a-f-]{36}$/.test(id));
  const own = asked
    .map(([name]) => name)
    .filter((name) => !['userId', 'deliveryId', 'serviceAccountId'].includes(name));
  for (const [name, id] of asked) {
    const query = `{ node(id: "${id}") { id __typename } nodesById(ids: ["${id}"]) { id } }`;
    const { body } = await api.graphql(query, {}, foreign.token);
    expect([name, body.data]).toEqual([name, { node: null, nodesById: [null] }]);
    if (!own.includes(name)) continue;
    expect((await api.graphql(query)).body.data.node).toEqual({ id, __typename: expect.any(String) });
  }
  expect(own.length).toBeGreaterThan(12);
});

describe("another project's ids are not there", () => {
  const OF_A_PROJECT = /\{(?:volumeId|replicaId|snapshotId|rebuildId|operationId|recurringName|projectId)\}/;
  const ofProjects = OPERATIONS.filter(({ path, access }) => access !== 'agent' && OF_A_PROJECT.test(path));
  let token: string;
  beforeAll(async () => {
    token = await api.tokenOfRole('member');
    const { body: project } = await api.call('POST', '/projects', { body: { name: 'elsewhere' } });
    const { body: me } = await api.call('GET', '/sessions/current', { token });
    const path = `/projects/${project.id}/members/${me.userId}`;
    expect((await api.call('PUT', path, { body: { role: 'admin' } })).status).toBe(200);
  });

  test.each(ofProjects.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s does not find them for an admin of another one',
    async (_name, operation) => {
      const { access } = operation;
      const mayElsewhere = access !== 'public' && access !== 'agent' && isAllowedInProject('admin', access);
      expect(await ask(operation, token)).toMatchObject({ status: mayElsewhere ? 404 : 403 });
    },
  );
});

describe('what is of the whole cluster', () => {
  /** Told of what belongs to one project, by its ids and the name that its users gave it. */
  const secrets: Record<string, string> = {};
  let limited: string;
  let byRole: string;
  beforeAll(async () => {
    const { rows } = await api.owner.query('SELECT name FROM volume WHERE id = $1', [ids.volumeId]);
    const { volumeId = '', replicaId = '', snapshotId = '', rebuildId = '' } = ids;
    Object.assign(secrets, { volumeId, replicaId, snapshotId, rebuildId, name: rows[0].name });
    await api.owner.query(
      `INSERT INTO alert (id, organization_id, cluster_id, rule, severity, subject_kind, subject_id, subject_name, message,
         effects, since, changed_at)
       SELECT gen_random_uuid(), organization_id, cluster_id, 'VolumeFaulted', 'error', 'volume', $1::text, $2::text,
         'volume ' || $2 || ' can not be served', effects, now(), now() FROM alert LIMIT 1`,
      [volumeId, secrets.name],
    );
    const { body: project } = await api.call('POST', '/projects', { body: { name: 'beside it' } });
    const body = { name: 'limited', projectIds: [project.id] };
    limited = String((await api.call('POST', '/tokens', { body })).body.token);
    byRole = await api.tokenOfRole('member');
    const { body: me } = await api.call('GET', '/sessions/current', { token: byRole });
    await api.call('PUT', `/projects/${project.id}/members/${me.userId}`, { body: { role: 'admin' } });
  });

  const reads = OPERATIONS.filter(
    ({ method, path, access }) =>
      method === 'GET' && access !== 'agent' && access !== 'public' && !path.includes('/stream'),
  );
  test.each(reads.map((operation) => [operation.path, operation] as const))(
    '%s tells a token or a role of another project nothing of what is in one',
    async (_path, operation) => {
      for (const token of [limited, byRole]) {
        const { status, body } = await ask(operation, token);
        // A refusal repeats the id that was asked for.
        const told = status === 200 ? JSON.stringify(body) : '';
        expect(Object.entries(secrets).filter(([, secret]) => told.includes(secret))).toEqual([]);
      }
    },
  );
});

test.each(ORGANIZATION_ROLES)(
  'every route refuses the role %s exactly where the table does',
  async (role) => {
    const NOWHERE = '01a1fd5b-0000-7000-8000-0000000000ff';
    const wrong: string[] = [];
    for (const { method, path, access } of OPERATIONS) {
      if (access === 'public' || access === 'agent') continue;
      // A token of its own: some of these end the one that asks.
      const token = await api.tokenOfRole(role);
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
      const nowhere = path.replace('/api/v1', '').replace(/\{\w+\}/g, NOWHERE);
      // A stream of what the caller may see has no end: one that can't be read is asked for.
      const asked = path === '/api/v1/events/stream' ? `${nowhere}?filter=unreadable` : nowhere;
      const { status } = await api.call(method, asked, { token, ...body });
      if ((status === 403) === isAllowed(role, access)) wrong.push(`${method} ${path}: ${status}`);
    }
    expect(wrong).toEqual([]);
  },
);

describe('a viewer changes nothing', () => {
  const forbidden = OPERATIONS.filter(
    ({ access }) => access !== 'public' && access !== 'agent' && !isAllowed('viewer', access),
  );
  test.each(forbidden.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s is forbidden to a viewer',
    async (_name, operation) => {
      expect(await ask(operation, await api.tokenOfRole('viewer'))).toMatchObject({
        status: 403,
        body: { code: 'auth.forbidden' },
      });
    },
  );

  test('what is not a read needs more than a viewer, except for own tokens, sessions and explanations', () => {
    const open = OPERATIONS.filter(
      ({ method, access }) =>
        method !== 'GET' && access !== 'agent' && (access === 'public' || isAllowed('viewer', access)),
    );
    expect(open.map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`).sort()).toEqual([
      'DELETE /sessions',
      'DELETE /sessions/{tokenId}',
      'DELETE /tokens/{tokenId}',
      // Who joins proves a join token or its key.
      'POST /agent/identity',
      'POST /clusters/{clusterId}/volumes/{volumeId}/explain',
      'POST /device/start',
      'POST /device/token',
      'POST /device/{userCode}/approve',
      // Who makes the first account has the one-time link.
      'POST /first-account',
      'POST /invitations/accept',
      // Who joins has the secret of an invitation, for the address of the own account.
      'POST /invitations/join',
      'POST /invitations/read',
      // It leads to a provider that the organization names, and to no answer of this API.
      'POST /oidc/start',
      'POST /sessions',
      'POST /sessions/organizations/{organizationId}',
      'POST /sessions/password',
      'POST /tokens',
      'POST /tokens/{tokenId}/rotate',
    ]);
  });
});

function listOperations(): Operation[] {
  const accessByOperation = new Map<string, RouteOptions['access']>();
  for (const controller of CONTROLLERS) {
    for (const name of Object.getOwnPropertyNames(controller.prototype)) {
      const options: RouteOptions | undefined = Reflect.getMetadata(
        ROUTE_OPTIONS,
        controller.prototype[name],
      );
      const tag = controller.name.replace(/Controller$/, '').toLowerCase();
      if (options !== undefined) accessByOperation.set(`${tag}_${name}`, options.access);
    }
  }
  const { paths } = openApiDocument<{
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>;
  }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
      operationId,
      path,
      method: method.toUpperCase(),
      access: accessByOperation.get(operationId) ?? 'public',
      takesIfMatch: parameters.some(({ name }) => name === 'If-Match'),
    })),
  );
}

function ask({ path, method }: Operation, token: string | undefined, headers: Record<string, string> = {}) {
  const filled = path
    .replace('/api/v1', '')
    .replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing');
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: BODIES[`${method} ${path}`] ?? {} };
  return api.call(method, filled, { ...(token === undefined ? {} : { token }), headers, ...body });
}

/** What a mutation is sent as its input: the body of the operation that it stands for, or of the one that it tries. */
function bodyOfField(field: string): object {
  const name = field.replace(/^dryRun./, (start) => start.slice(-1).toLowerCase());
  const operation = OPERATIONS.find(({ operationId }) => FIELDS[operationId] === name);
  if (operation === undefined) return {};
  const { operationId, method, path } = operation;
  return { ...REQUEST_EXAMPLES[operationId], ...Object(BODIES[`${method} ${path}`] ?? {}) };
}

/** How each field refuses a caller who names what `ids` has; `none`: it does not. */
async function codesOf(fields: readonly FieldToAsk[], token: string) {
  const codes: { field: string; code: string }[] = [];
  for (const { name, query, variables } of fields) {
    const { body } = await api.graphql(query, filledWithIds(variables), token);
    codes.push({ field: name, code: String(body.errors?.[0]?.extensions?.code ?? 'none') });
  }
  return codes;
}

function filledWithIds(variables: FieldToAsk['variables']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value ?? ids[name] ?? 'x']),
  );
}
