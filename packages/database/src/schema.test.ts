import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from './migrate.js';
import { prepareRoles } from './roles.js';
import { seedLocal } from './seed-local.js';

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await database?.stop();
});

function prisma(...args: string[]) {
  const cli = fileURLToPath(new URL('../prisma/cli/prisma.mjs', import.meta.url));
  return spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', DATABASE_OWNER_URL: database.ownerUrl },
  });
}

describe('migrations', () => {
  test('schema.prisma and the migrated database agree', () => {
    const diff = prisma(
      'migrate',
      'diff',
      '--from-config-datasource',
      '--to-schema',
      'prisma/schema.prisma',
      '--exit-code',
    );
    expect(`${diff.stdout}${diff.stderr}`).toContain('No difference detected');
    expect(diff.status).toBe(0);
  });

  test("Prisma's own status finds nothing to do after our runner", () => {
    const status = prisma('migrate', 'status');
    expect(status.stdout).toContain('Database schema is up to date');
  });

  test('a second run applies nothing', async () => {
    expect(await migrate(database.ownerUrl)).toEqual([]);
  });

  test('two runs at once apply each migration once', async () => {
    await owner.query('CREATE DATABASE twice');
    const url = Object.assign(new URL(database.ownerUrl), { pathname: '/twice' }).href;
    const applied = await Promise.all([migrate(url), migrate(url)]);
    expect(applied.map((names) => names.length > 0).sort()).toEqual([false, true]);
  });

  test('a changed migration is refused, and a failing one leaves nothing', async () => {
    await owner.query('CREATE DATABASE changed');
    const url = Object.assign(new URL(database.ownerUrl), { pathname: '/changed' }).href;
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-migrations-'));
    const write = (name: string, sql: string) => {
      fs.mkdirSync(path.join(directory, name), { recursive: true });
      fs.writeFileSync(path.join(directory, name, 'migration.sql'), sql);
    };
    try {
      write('1_one', 'CREATE TABLE one (n int)');
      expect(await migrate(url, directory)).toEqual(['1_one']);
      write('2_two', 'CREATE TABLE two (n int); SELECT 1/0');
      await expect(migrate(url, directory)).rejects.toThrow(/2_two failed: division by zero/);
      write('2_two', 'CREATE TABLE two (n int)');
      expect(await migrate(url, directory)).toEqual(['2_two']);
      write('1_one', 'CREATE TABLE one (n bigint)');
      await expect(migrate(url, directory)).rejects.toThrow(/1_one was changed/);
    } finally {
      fs.rmSync(directory, { recursive: true });
    }
  });
});

describe('isolation', () => {
  type TableFacts = { name: string; rls: boolean; forced: boolean; policies: string[]; has_org: boolean };

  async function tables(): Promise<TableFacts[]> {
    const { rows } = await owner.query<TableFacts>(
      `SELECT c.relname AS name, c.relrowsecurity AS rls, c.relforcerowsecurity AS forced,
         ARRAY(SELECT p.polname::text FROM pg_policy p WHERE p.polrelid = c.oid ORDER BY 1) AS policies,
         EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id'
                   AND a.attnotnull) AS has_org
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'`,
    );
    return rows;
  }

  test('every table has forced row-level security, its policies and an organization', async () => {
    const all = await tables();
    expect(all.length).toBeGreaterThanOrEqual(18);
    for (const table of all) {
      expect(table).toMatchObject({ rls: true, forced: true });
      expect(table.policies).toEqual(expect.arrayContaining(['api_isolation', 'system_access']));
    }
    // An organization's own id is its organization; a user belongs to several through memberships; sign-ins are counted
    // before there is one, and requests outside of its transactions; the certificate authority is the control plane's; a provider knows users of any
    // organization; a program that signs in belongs to none yet; the oldest version that may be started is the control plane's;
    // what has changed of a node is seen by those who see the node.
    const without = all.filter((table) => !table.has_org).map((table) => table.name);
    expect(without.sort()).toEqual([
      'app_user',
      'authority',
      'device_login',
      'organization',
      'request_permit',
      'sign_in_limit',
      'stale_report',
      'user_identity',
      'version_floor',
    ]);
  });

  test('neither role can bypass the policies or owns a table', async () => {
    const { rows } = await owner.query(
      `SELECT rolsuper, rolbypassrls, rolcreaterole,
         EXISTS (SELECT FROM pg_class WHERE relowner = r.oid AND relkind = 'r') AS owns
       FROM pg_roles r WHERE rolname IN ('holdfast_api', 'holdfast_system')`,
    );
    const none = { rolsuper: false, rolbypassrls: false, rolcreaterole: false, owns: false };
    expect(rows).toEqual([none, none]);
  });

  test('the api role sees nothing without an organization, and its own with one', async () => {
    const seed = await seedTestDatabase(database);
    const api = new pg.Client({ connectionString: database.apiUrl });
    await api.connect();
    try {
      const count = async () => (await api.query('SELECT name FROM cluster')).rows;
      expect(await count()).toEqual([]);
      await api.query(`SELECT set_config('holdfast.organization_id', $1, false)`, [seed.organizationId]);
      expect(await count()).toEqual([{ name: 'local' }]);
      const foreign = `INSERT INTO project (id, organization_id, name, created_at)
        VALUES (gen_random_uuid(), gen_random_uuid(), 'stolen', now())`;
      await expect(api.query(foreign)).rejects.toThrow(/row-level security/);
    } finally {
      await api.end();
    }
  });
});

describe('seedLocal', () => {
  test('is idempotent and replaces secrets that changed', async () => {
    const first = await seedTestDatabase(database);
    expect(await seedTestDatabase(database)).toEqual(first);
    const changed = { password: 'other', token: 'hf_other', agentToken: 'hf_other_agent' };
    expect(await seedLocal(database.systemUrl, changed)).toEqual({ ...first, ...changed });
    const { rows } = await owner.query(
      'SELECT (SELECT count(*)::int FROM token) AS tokens, (SELECT count(*)::int FROM join_token) AS joins',
    );
    expect(rows).toEqual([{ tokens: 1, joins: 1 }]);
  });

  test('finds what its users have renamed, beside others of the old names', async () => {
    const first = await seedTestDatabase(database);
    for (const table of ['organization', 'project', 'cluster'])
      await owner.query(`UPDATE ${table} SET name = name || ' of ours'`);
    await owner.query(
      `INSERT INTO organization (id, name, created_at) VALUES (gen_random_uuid(), 'Local', now())`,
    );
    await owner.query(
      `INSERT INTO cluster (id, organization_id, name, created_at) VALUES (gen_random_uuid(), $1, 'local', now())`,
      [first.organizationId],
    );
    expect(await seedTestDatabase(database)).toEqual(first);
    const { rows } = await owner.query('SELECT name FROM organization ORDER BY created_at');
    expect(rows.map(({ name }) => name)).toEqual(['Local of ours', 'Local']);
  });
});

describe('prepareRoles', () => {
  test('gives the same passwords every time', async () => {
    const again = await prepareRoles(database.ownerUrl);
    expect(again).toEqual({ apiUrl: database.apiUrl, systemUrl: database.systemUrl });
  });
});
