import type { UnresponsiveNode } from '@holdfast/control/ports/unresponsive-agents.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { isMissed, isUnanswering } from '@holdfast/core/policy/node-liveness.js';
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { NODE_UNANSWERING } from '../rows/readiness-sql.js';
import { createPool, type Pool } from '../sql/pool.js';
import { snapshot, systemScope, unsyncedTransaction } from '../sql/scope.js';
import { noteListening } from './listening.js';
import { PostgresStore } from './postgres-store.js';
import { listMissedNodes, noteUnanswered } from './unresponsive-nodes.js';
import { CHANGE_CHANNEL } from './wake-up-set.js';

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;
let store: PostgresStore;
let clusterId: ClusterId;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  pool = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'missed-nodes-test' });
  ({ clusterId } = await seedTestDatabase(database));
  store = new PostgresStore(systemScope(pool));
  for (const name of ['early', 'late', 'latest', 'away'])
    await store.recordHeartbeat(clusterId, aHeartbeat(name));
});

afterAll(async () => {
  await pool?.end();
  await owner?.end();
  await database?.stop();
});

/** Nodes were heard so many seconds ago. Heartbeats could be heard for a minute, and the last note of that is of so many seconds ago. */
async function heard(secondsAgo: Record<string, number>, notedSecondsAgo = 0): Promise<void> {
  for (const [name, seconds] of Object.entries(secondsAgo))
    await owner.query(
      `UPDATE node SET last_heartbeat_at = now() - $2 * interval '1 second', conditions = $3 WHERE name = $1`,
      [
        name,
        seconds,
        JSON.stringify([
          {
            type: 'Ready',
            status: name === 'away' ? 'False' : 'True',
            reason: '',
            message: '',
            lastTransitionAt: new Date(),
          },
        ]),
      ],
    );
  await owner.query(
    `UPDATE cluster_listening SET since = now() - interval '1 minute', at = now() - $1 * interval '1 second'`,
    [notedSecondsAgo],
  );
}

const missed = (limit = 10) => snapshot(systemScope(pool), (sql) => listMissedNodes(sql, limit));
const names = async (limit?: number) => (await missed(limit)).map(({ node }) => node.name);

beforeEach(() => noteListening(systemScope(pool)));

test('those are told that are late and counted as ready, the one that was heard last first', async () => {
  await heard({ early: 1, late: 20, latest: 4, away: 20 });
  expect(await names()).toEqual(['latest', 'late']);
  expect(await names(1)).toEqual(['latest']);
  const since = new Date(Date.now() - 60_000);
  for (const { node, at } of await missed()) expect(isMissed(node, { now: at, since })).toBe(true);
});

test('none that was not heard since heartbeats can be heard', async () => {
  await heard({ early: 70, late: 70, latest: 70, away: 70 });
  expect(await names()).toEqual([]);
});

test('none while no heartbeat could be heard', async () => {
  await heard({ early: 20, late: 20, latest: 20, away: 20 }, 4);
  expect(await names()).toEqual([]);
});

describe('one that gave no answer', () => {
  const told: string[] = [];
  beforeAll(async () => {
    owner.on('notification', ({ payload = '' }) => void told.push(payload));
    await owner.query(`LISTEN ${CHANGE_CHANNEL}`);
  });
  beforeEach(async () => {
    await owner.query('UPDATE node SET unanswered_at = NULL');
    await heard({ early: 1, late: 20, latest: 4, away: 20 });
    told.length = 0;
  });

  const note = (missed: UnresponsiveNode) =>
    unsyncedTransaction(systemScope(pool), (sql) => noteUnanswered(sql, missed));

  async function find(name: string): Promise<UnresponsiveNode> {
    const found = (await missed()).find(({ node }) => node.name === name);
    if (found === undefined) throw new Error(`${name} is not missed`);
    return found;
  }

  async function rowOf(name: string) {
    const { rows } = await owner.query<{ at: Date | null; heard: Date; version: number; is_told: boolean }>(
      `SELECT unanswered_at AS at, last_heartbeat_at AS heard, version, ${NODE_UNANSWERING} AS is_told FROM node n WHERE name = $1`,
      [name],
    );
    const [row] = rows;
    if (row === undefined) throw new Error(`there is no ${name}`);
    // The statement and the rule agree.
    expect(isUnanswering({ lastHeartbeatAt: row.heard }, row.at ?? undefined)).toBe(row.is_told);
    return row;
  }

  test('is noted once, with when it was first missed, and told to live readers; its version stays', async () => {
    const first = await find('latest');
    const { version } = await rowOf('latest');
    await Promise.all([note(first), note(first)]);
    await note(await find('latest'));
    expect(await rowOf('latest')).toMatchObject({ at: first.at, is_told: true, version });
    expect(told).toEqual([expect.stringMatching(`${clusterId} node ${first.node.id}$`)]);
  });

  test('is asked after those of which nothing is known yet: it may still be found to be gone', async () => {
    await note(await find('latest'));
    expect(await names()).toEqual(['late', 'latest']);
  });

  test('is well from its next heartbeat on, which is told, and later ones are not', async () => {
    const { node, at } = await find('latest');
    await note({ node, at });
    for (let beats = 0; beats < 2; beats += 1) await store.recordHeartbeat(clusterId, aHeartbeat('latest'));
    expect(await rowOf('latest')).toMatchObject({ is_told: false });
    expect(told.filter((payload) => payload.endsWith(` node ${node.id}`))).toHaveLength(2);
    // A note that comes late, of a worker that stood still, changes nothing of that.
    await note({ node, at });
    expect(await rowOf('latest')).toMatchObject({ at, is_told: false });
  });

  test('was heard while it was asked: nothing is noted', async () => {
    const found = await find('latest');
    await store.recordHeartbeat(clusterId, aHeartbeat('latest'));
    await note(found);
    expect(await rowOf('latest')).toMatchObject({ at: null, is_told: false });
  });

  test('and of which a heartbeat is just being stored, is judged by that', async () => {
    const found = await find('latest');
    await owner.query('BEGIN');
    await owner.query(`UPDATE node SET last_heartbeat_at = now() WHERE name = 'latest'`);
    const noted = note(found);
    await owner.query('SELECT pg_sleep(0.1)');
    await owner.query('COMMIT');
    await noted;
    expect(await rowOf('latest')).toMatchObject({ at: null, is_told: false });
  });

  test('missed again later is noted again', async () => {
    await note(await find('latest'));
    await store.recordHeartbeat(clusterId, aHeartbeat('latest'));
    await owner.query(`UPDATE node SET unanswered_at = unanswered_at - interval '1 hour'`);
    await heard({ latest: 4 });
    const again = await find('latest');
    await note(again);
    expect(await rowOf('latest')).toMatchObject({ at: again.at, is_told: true });
  });
});
