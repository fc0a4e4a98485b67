import { randomUUID } from 'node:crypto';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOrganization, createProject, findProject } from '../queries/tenancy.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Sql, snapshot, systemScope, transaction } from '../sql/scope.js';
import { withPlainRows } from './plain-rows.js';

let database: TestDatabase;
let api: Pool;
let system: Pool;
/** Two organizations with a project each. */
let one: { organizationId: OrganizationId; projectId: ProjectId };
let two: typeof one;

beforeAll(async () => {
  database = await startTestDatabase();
  const seed = await seedTestDatabase(database);
  api = createPool(database.apiUrl, { connectionsMax: 4, applicationName: 'plain-rows' });
  system = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'plain-rows' });
  one = { organizationId: seed.organizationId, projectId: seed.projectId };
  two = { organizationId: asId(randomUUID()), projectId: asId(randomUUID()) };
  const { rows } = await system.query('SELECT user_id FROM membership LIMIT 1');
  const now = new Date();
  await transaction(systemScope(system), async (sql) => {
    await createOrganization(sql, {
      id: two.organizationId,
      name: 'Two',
      ownerId: rows[0].user_id,
      createdAt: now,
    });
    await createProject(sql, { ...newProject('default', two.organizationId), id: two.projectId });
  });
});

afterAll(async () => {
  await Promise.all([api?.end(), system?.end()]);
  await database?.stop();
});

const within = <T>(organizationId: OrganizationId, work: (sql: Sql) => Promise<T>) =>
  transaction(organizationScope(api, organizationId), work);

const newProject = (name: string, organizationId = one.organizationId) => ({
  id: asId<ProjectId>(randomUUID()),
  organizationId,
  name,
  createdAt: new Date(),
});

describe('withPlainRows', () => {
  test('sees the rows of the organization that the transaction is of, also for many at once', async () => {
    const asked = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : two));
    const found = await Promise.all(
      asked.map(({ organizationId, projectId }) =>
        within(organizationId, (sql) => findProject(sql, projectId)),
      ),
    );
    // Reads by id of one moment would otherwise be put into one statement, of one organization.
    expect(found.map((project) => project?.id)).toEqual(asked.map(({ projectId }) => projectId));
    const foreign = await within(one.organizationId, (sql) => findProject(sql, two.projectId));
    expect(foreign).toBeUndefined();
  });

  test('sees only the projects that the transaction is limited to', async () => {
    const limits = { clusterIds: undefined, projectIds: [] };
    const scope = organizationScope(api, one.organizationId, { limits });
    const names = await snapshot(scope, (sql) =>
      withPlainRows(sql, ({ project }) => project.findMany({ select: { name: true } })),
    );
    expect(names).toEqual([]);
  });

  test('commits and rolls back with what is written in SQL', async () => {
    const project = newProject('kept or not');
    const failing = within(one.organizationId, async (sql) => {
      await createProject(sql, project);
      await sql.query(`UPDATE project SET name = 'renamed' WHERE id = $1`, [project.id]);
      expect(await findProject(sql, project.id)).toMatchObject({ name: 'renamed' });
      throw new Error('given up');
    });
    await expect(failing).rejects.toThrow('given up');
    const after = await within(one.organizationId, (sql) => findProject(sql, project.id));
    expect(after).toBeUndefined();
  });

  test('says what Postgres said: a taken name, and a row of another organization', async () => {
    const twice = within(one.organizationId, async (sql) => {
      await createProject(sql, newProject('twice'));
      await createProject(sql, newProject('twice'));
    });
    await expect(twice).rejects.toMatchObject({ code: 'project.name_taken' });
    const stolen = within(one.organizationId, (sql) =>
      createProject(sql, newProject('stolen', two.organizationId)),
    );
    await expect(stolen).rejects.toMatchObject({ code: '42501' });
  });

  test('writes nothing in a transaction that only reads', async () => {
    const writing = snapshot(organizationScope(api, one.organizationId), (sql) =>
      createProject(sql, newProject('unread')),
    );
    await expect(writing).rejects.toMatchObject({ code: '25006' });
  });

  test('can not be used once its transaction has ended', async () => {
    const kept = await within(one.organizationId, (sql) =>
      withPlainRows(sql, async ({ project }) => ({ late: () => project.findMany() })),
    );
    const error = await kept.late().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect(isFault(error)).toBe(false);
  });

  test('leaves lists that are not given as they are without a value', async () => {
    const id = randomUUID();
    const { organizationId } = one;
    await transaction(systemScope(system), (sql) =>
      withPlainRows(sql, async ({ token, membership }) => {
        const { userId } = await membership.findFirstOrThrow({ where: { organizationId } });
        const rest = { kind: 'api', name: 't', role: 'viewer', secretHash: id, createdAt: new Date() };
        await token.create({ data: { id, organizationId, userId, ...rest } });
      }),
    );
    const { rows } = await system.query('SELECT actions, cluster_ids FROM token WHERE id = $1', [id]);
    expect(rows).toEqual([{ actions: null, cluster_ids: null }]);
  });
});
