import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, type Pool } from '../sql/pool.js';
import { systemScope, transaction } from '../sql/scope.js';
import { makeFirstJoinTokens } from './first-join-tokens.js';
import { joinNode } from './node-identities.js';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'test' });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

test('each node named beforehand gets a token that lets it in once, and none when it has joined', async () => {
  const { clusterId } = await seedTestDatabase(database);
  const system = systemScope(pool);
  const now = new Date();
  const join = (name: string, tokenSecret: string | undefined, keyHash = `key of ${name}`) =>
    joinNode(system, {
      name,
      keyHash,
      tokenSecret,
      controlSecret: undefined,
      protocol: undefined,
      agentClock: now,
      now,
      notAfter: now,
    });

  const first = await makeFirstJoinTokens(system, clusterId, ['node-1', 'node-2'], now);
  expect([...first.keys()].sort()).toEqual(['node-1', 'node-2']);
  await expect(join('node-2', first.get('node-1'))).rejects.toThrow(/is for node node-1, not for node-2/);
  await join('node-1', first.get('node-1'));
  await expect(join('node-1', first.get('node-1'), 'another key')).rejects.toThrow(/was used 1 times/);

  const second = await makeFirstJoinTokens(system, clusterId, ['node-1', 'node-2'], now);
  expect([...second.keys()]).toEqual(['node-2']);
  await expect(join('node-2', first.get('node-2'))).rejects.toThrow(/missing or unknown/);
  await join('node-2', second.get('node-2'));
  const { rows } = await transaction(system, (sql) =>
    sql.query('SELECT name FROM join_token WHERE name LIKE $1', ['first start%']),
  );
  expect(rows).toHaveLength(1);
});
