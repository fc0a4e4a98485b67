import { AGENT_PROTOCOL_VERSION } from '@holdfast/core/model/agent-protocol.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrationNames } from './migrate.js';
import { databaseTrouble } from './sql/connection-trouble.js';
import { createPool } from './sql/pool.js';
import { type Scope, type Sql, systemScope, transaction } from './sql/scope.js';
import { loadVersionFloor, nodesWithOlderAgents, raiseVersionFloor } from './version-floor.js';

let database: TestDatabase;
let owner: pg.Client;
let system: Scope;
let newest: string;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  system = systemScope(createPool(database.systemUrl, { connectionsMax: 1, applicationName: 'test' }));
  newest = (await migrationNames()).at(-1) ?? '';
});
afterAll(async () => {
  await system?.pool.end();
  await owner?.end();
  await database?.stop();
});

const asSystem = <T>(act: (sql: Sql) => Promise<T>) => transaction(system, act);
const raise = () => asSystem((sql) => raiseVersionFloor(sql, NOON));

describe('the oldest version that may be started', () => {
  test('is any, until an upgrade was finished', async () => {
    expect(await asSystem(loadVersionFloor)).toBeUndefined();
    expect(await databaseTrouble(database.systemUrl)).toBeUndefined();
  });

  test('is the one that finished an upgrade, and that may be started', async () => {
    const floor = { migration: newest, agentProtocol: AGENT_PROTOCOL_VERSION };
    expect(await raise()).toEqual(floor);
    expect(await raise()).toEqual(floor);
    expect(await asSystem(loadVersionFloor)).toEqual(floor);
    expect(await databaseTrouble(database.systemUrl)).toBeUndefined();
  });

  test('is not lowered by an older program, which is told why it may not be started', async () => {
    await owner.query(`UPDATE version_floor SET migration = '29990101000000_next', agent_protocol = 99`);
    await raise();
    expect(await asSystem(loadVersionFloor)).toEqual({ migration: '29990101000000_next', agentProtocol: 99 });
    expect(await databaseTrouble(database.systemUrl)).toMatch(
      /a newer Holdfast: .* the migration 29990101000000_next, which this Holdfast does not know/,
    );
  });
});

test('nodes with older agents are those that were heard without a version, or with a lower one', async () => {
  const { organizationId, clusterId } = await seedTestDatabase(database);
  const nodes: [string, number | null, Date | null][] = [
    ['of-this-version', AGENT_PROTOCOL_VERSION, NOON],
    ['of-an-older-one', AGENT_PROTOCOL_VERSION - 1, NOON],
    ['that-says-none', null, NOON],
    ['never-heard', null, null],
  ];
  for (const [name, protocol, heardAt] of nodes)
    await owner.query(
      `INSERT INTO node (id, organization_id, cluster_id, name, agent_protocol, last_heartbeat_at, created_at)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6)`,
      [organizationId, clusterId, name, protocol, heardAt, NOON],
    );
  expect(await asSystem(nodesWithOlderAgents)).toEqual(['of-an-older-one', 'that-says-none']);
});
