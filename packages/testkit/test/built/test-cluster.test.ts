/** Clusters of two suites on one shared stack: neither sees the other, and each is reached as a stack of its own is. */
import { createPool } from '@holdfast/database/sql/pool.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestCluster } from '../../src/test-cluster.js';

type Items = { items: { name: string }[] };

let one: TestCluster;
let other: TestCluster;

beforeAll(async () => {
  [one, other] = await Promise.all([TestCluster.start({ agents: 2 }), TestCluster.start({ agents: 1 })]);
});

afterAll(async () => {
  await one?.destroy();
});

const namesIn = async (cluster: TestCluster, list: string) =>
  (await cluster.call<Items>('GET', list)).body.items.map(({ name }) => name).sort();

test('each has its own nodes, and no volume of the other', async () => {
  await one.cliJson('volume', 'create', 'only-here', '--size', '16Mi', '--replicas', '2');
  expect(await namesIn(one, '/nodes')).toEqual(['node-1', 'node-2']);
  expect(await namesIn(other, '/nodes')).toEqual(['node-1']);
  expect(await namesIn(one, '/volumes')).toEqual(['only-here']);
  expect(await namesIn(other, '/volumes')).toEqual([]);
});

test('a token of one opens nothing of the other', async () => {
  const answer = await fetch(`${one.clusterUrl}/nodes`, {
    headers: { authorization: `Bearer ${other.local.token}` },
  });
  expect(answer.status).toBe(404);
});

test('an agent that was killed is started again by the command for it, and a new name is a new node', async () => {
  const before = one.agent('node-2');
  one.killAgent('node-2');
  for (const name of ['node-2', 'node-3']) {
    const { exitCode, stderr } = await one.cli('local', 'start-agent', name);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  }
  expect(one.agent('node-2')).toEqual({ ...before, pid: expect.any(Number) });
  expect(one.agent('node-2').pid).not.toBe(before.pid);
  expect(one.agent('node-3').zone).toBe('zone-c');
});

test('a cluster that was destroyed leaves no process, and nothing to do for the worker', async () => {
  const { pid } = other.agent('node-1');
  await other.destroy();
  expect(() => process.kill(-pid, 0)).toThrow('ESRCH');
  const pool = createPool(one.stack.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  const { rows } = await pool.query('SELECT count(*)::int AS nodes FROM node GROUP BY cluster_id');
  await pool.end();
  expect(rows).toContainEqual({ nodes: 3 });
  expect(rows).not.toContainEqual({ nodes: 1 });
});
