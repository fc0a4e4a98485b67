/** The chain of the audit log: it verifies as written, detects every way to change it, and continues after pruning. */
import { asId, type OrganizationId } from '@holdfast/core/model/ids.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type AuditEntry, insertAuditEntries } from '../queries/audit.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope, systemScope, transaction } from '../sql/scope.js';
import { sealAll } from './seal.js';
import { type ChainQuestion, verifyChain } from './verify.js';

const DAY_MS = 24 * 3_600_000;
const OTHER = asId<OrganizationId>('01a1fd5b-0000-7000-8000-0000000000aa');

let database: TestDatabase;
let owner: pg.Client;
let systemPool: Pool;
let apiPool: Pool;
let system: Scope;
let organizationId: OrganizationId;

beforeAll(async () => {
  database = await startTestDatabase();
  ({ organizationId } = await seedTestDatabase(database));
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  systemPool = createPool(database.systemUrl, { connectionsMax: 4, applicationName: 'chain' });
  apiPool = createPool(database.apiUrl, { connectionsMax: 4, applicationName: 'chain' });
  system = systemScope(systemPool);
});
afterAll(async () => {
  await Promise.all([systemPool?.end(), apiPool?.end(), owner?.end()]);
  await database?.stop();
});
beforeEach(() => owner.query('TRUNCATE audit_entry, audit_link, audit_unsealed, audit_anchor'));

async function write(count: number, part: Partial<AuditEntry> = {}): Promise<void> {
  const entries = Array.from({ length: count }, (_, n) => ({
    organizationId,
    actor: { kind: 'user/api', id: 'u' },
    address: '',
    traceId: '',
    action: `action ${n}`,
    target: { kind: 'volume', id: 'v' },
    requestId: 'r',
    detail: { n, nested: { b: [1, { z: 1, a: 2 }], a: null } },
    at: new Date(),
    ...part,
  }));
  const scope = organizationScope(apiPool, part.organizationId ?? organizationId);
  await transaction(scope, (sql) => insertAuditEntries(sql, entries));
}

function verify(part: Partial<ChainQuestion> = {}) {
  const question = { organizationId, limit: 10_000, ...part };
  return verifyChain(organizationScope(apiPool, question.organizationId), question);
}

describe('a chain', () => {
  test('holds as it was written, in parts too, and each organization has its own', async () => {
    await write(3);
    await write(2, { organizationId: OTHER });
    expect(await sealAll(system)).toBe(5);
    await write(4);
    expect(await verify()).toMatchObject({
      checked: 3,
      broken: undefined,
      unsealed: 4,
      through: { sequence: 3 },
    });
    expect(await sealAll(system)).toBe(4);
    expect(await verify()).toMatchObject({ checked: 7, unsealed: 0, through: { sequence: 7 }, more: false });
    expect(await verify({ after: 5 })).toMatchObject({
      checked: 2,
      from: { sequence: 5 },
      broken: undefined,
    });
    expect(await verify({ organizationId: OTHER })).toMatchObject({ checked: 2, broken: undefined });
  });

  test('is one line when many write and several processes seal at once', async () => {
    const writing = Array.from({ length: 20 }, () => write(7));
    const sealing = Array.from({ length: 4 }, () => sealAll(system));
    await Promise.all([...writing, ...sealing]);
    await sealAll(system);
    expect(await verify()).toMatchObject({ checked: 140, broken: undefined, through: { sequence: 140 } });
  });

  test.each([
    {
      what: 'an entry that was changed',
      statement: `UPDATE audit_entry SET actor_id = 'other' WHERE id = ${entryAt(3)}`,
      broken: { sequence: 3, why: 'entry-changed' },
    },
    {
      what: 'a detail that was changed',
      statement: `UPDATE audit_entry SET detail = detail || '{"n": 9}' WHERE id = ${entryAt(2)}`,
      broken: { sequence: 2, why: 'entry-changed' },
    },
    {
      what: 'an entry that was deleted',
      statement: `DELETE FROM audit_entry WHERE id = ${entryAt(4)}`,
      broken: { sequence: 4, why: 'entry-missing' },
    },
    {
      what: 'an entry that was deleted with its link',
      statement: 'DELETE FROM audit_link WHERE sequence = 4',
      broken: { sequence: 4, why: 'link-missing' },
    },
    {
      what: 'a hash that was changed',
      statement: `UPDATE audit_link SET hash = repeat('0', 64) WHERE sequence = 5`,
      broken: { sequence: 5, why: 'entry-changed' },
    },
    {
      what: 'an entry that was kept out of the chain',
      statement: 'DELETE FROM audit_link WHERE sequence = 6',
      broken: { sequence: 6, why: 'entry-unlinked' },
    },
  ])('tells of $what', async ({ statement, broken }) => {
    await write(6);
    await sealAll(system);
    await tamper(statement);
    expect((await verify()).broken).toMatchObject(broken);
  });

  test('that was made anew does not have the place that was noted earlier', async () => {
    await write(4);
    await sealAll(system);
    const { through } = await verify();
    await write(1);
    await sealAll(system);
    expect((await verify({ expected: through })).broken).toBeUndefined();
    await tamper(`UPDATE audit_entry SET action = 'other' WHERE id = ${entryAt(1)}`);
    await owner.query(
      'INSERT INTO audit_unsealed (entry_id, organization_id) SELECT id, organization_id FROM audit_entry',
    );
    await owner.query('TRUNCATE audit_link');
    await sealAll(system);
    expect((await verify()).broken).toBeUndefined();
    expect((await verify({ expected: through })).broken).toMatchObject({ sequence: 4, why: 'other-head' });
  });
});

describe('the log only grows', () => {
  test.each(['audit_entry', 'audit_link'])('no role may change or delete rows of %s', async (table) => {
    await write(1);
    await sealAll(system);
    const column = table === 'audit_entry' ? 'action' : 'hash';
    for (const pool of [systemPool, apiPool]) {
      await expect(pool.query(`UPDATE ${table} SET ${column} = 'x'`)).rejects.toThrow(/permission denied/);
      await expect(pool.query(`DELETE FROM ${table}`)).rejects.toThrow(/permission denied/);
    }
    await expect(owner.query(`UPDATE ${table} SET ${column} = 'x'`)).rejects.toThrow(/only grows/);
    await expect(owner.query(`DELETE FROM ${table}`)).rejects.toThrow(/only grows/);
  });
});

describe('pruning', () => {
  const old = { at: new Date(Date.now() - 10 * DAY_MS) };
  const prune = async (days: number, most = 1_000) => {
    const before = new Date(Date.now() - days * DAY_MS);
    const { rows } = await systemPool.query('SELECT prune_audit($1, $2, $3) AS pruned', [
      organizationId,
      before,
      most,
    ]);
    return rows[0].pruned;
  };

  test('takes the oldest entries, and the chain goes on from where they ended', async () => {
    await write(3, old);
    await write(2);
    await sealAll(system);
    const noted = (await verify({ limit: 1 })).through;
    expect(await prune(11)).toBe(0);
    expect(await prune(9, 2)).toBe(2);
    expect(await verify()).toMatchObject({ checked: 3, from: { sequence: 2 }, broken: undefined });
    expect(await prune(9)).toBe(1);
    await write(1);
    await sealAll(system);
    const report = await verify({ expected: noted });
    expect(report).toMatchObject({
      checked: 3,
      from: { sequence: 3 },
      through: { sequence: 6 },
      broken: undefined,
    });
  });

  test('leaves what has been tampered with, and the last day', async () => {
    await write(3, old);
    await sealAll(system);
    await tamper(`DELETE FROM audit_entry WHERE id = ${entryAt(2)}`);
    expect(await prune(9)).toBe(1);
    expect((await verify()).broken).toMatchObject({ sequence: 2, why: 'entry-missing' });
    await expect(prune(0.5)).rejects.toThrow(/last day is kept/);
  });
});

/** As the tables' owner could, who has all rights. */
async function tamper(statement: string): Promise<void> {
  await owner.query('ALTER TABLE audit_entry DISABLE TRIGGER only_grows');
  await owner.query('ALTER TABLE audit_link DISABLE TRIGGER only_grows');
  expect((await owner.query(statement)).rowCount).toBeGreaterThan(0);
  await owner.query('ALTER TABLE audit_entry ENABLE TRIGGER only_grows');
  await owner.query('ALTER TABLE audit_link ENABLE TRIGGER only_grows');
}

function entryAt(sequence: number): string {
  return `(SELECT entry_id FROM audit_link WHERE sequence = ${sequence})`;
}
