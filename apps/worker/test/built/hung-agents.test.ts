/** A worker process, an agent that takes calls and answers none, and another organization, whose volumes wait for nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ClusterId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { noteListening } from '@holdfast/database/store/listening.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aDiskReport, aHeartbeat, testId } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** More than the worker has slots, and more than it lets one organization wait without one. */
const VOLUMES = 100;
/** Far more than the worker has done while the rest of the test runs. */
const CREATIONS = 1_000;
/** The ids of their disks end so. */
const NODES = { hangs: 801, answers: 802, stays: 803, dies: 804 };
type NodeName = keyof typeof NODES;

type Owner = { organizationId: OrganizationId; projectId: ProjectId; clusterId: ClusterId };
/** `given`: calls that came in; `left`: of those, calls that the worker has given up. */
type Agent = { server: http.Server; url: string; given: number; left: number };

let database: TestDatabase;
let pool: Pool;
let store: PostgresStore;
let worker: ChildProcess;
let hung: Owner;
const agents: Agent[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
  store = new PostgresStore(systemScope(pool));
  hung = await seedTestDatabase(database);
});

afterAll(async () => {
  if (worker?.exitCode === null) {
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }
  for (const { server } of agents) {
    server.closeAllConnections();
    server.close();
  }
  await pool?.end();
  await database?.stop();
});

test('an agent that hangs delays the volumes of its own organization only', async () => {
  const hanging = await anAgent('hangs');
  const other = await anOrganization();
  const answering = await anAgent('answers');
  await aNode(hung, 'hangs', hanging);
  await aNode(other, 'answers', answering);
  await makeNodesReady(pool);
  for (let n = 0; n < VOLUMES; n += 1) await aVolume(hung, `hung-${n}`);

  worker = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_LOG_LEVEL: 'silent',
      HOLDFAST_WORKER_PORT: '0',
      DATABASE_SYSTEM_URL: database.systemUrl,
    },
    stdio: 'ignore',
  });
  // Were slots held by what hangs, as many would be under way at once as there are slots.
  await eventually(
    'more calls hang at once than the worker has slots',
    () => hanging.given - hanging.left,
    (underWay) => underWay > 16,
  );
  const volumeId = await aVolume(other, 'waits-for-nothing');
  const view = await eventually(
    'the volume of the other organization is made',
    async () => {
      await aNode(other, 'answers', answering);
      return store.loadVolume(volumeId);
    },
    (found) => found?.volume.lifecycle.state === 'detached',
  );
  expect(view?.replicas.map(({ provisioned }) => provisioned)).toEqual([true]);
});

test('while a thousand creations wait, a dead node is told, and a delete of the same organization begins', async () => {
  const owner = hung;
  const [hanging] = agents;
  const [staying, dying] = [await anAgent('answers'), await anAgent('answers')];
  if (hanging === undefined) throw new Error('the test before has begun no agent');
  const beat = async (...names: NodeName[]) => {
    const agentOf = { hangs: hanging, answers: staying, stays: staying, dies: dying };
    for (const name of names) await aNode(owner, name, agentOf[name]);
    await noteListening(systemScope(pool));
  };
  const readyNames = async () => {
    const { nodes } = await store.loadFleet(owner.clusterId);
    return nodes.filter(isNodeReady).map(({ name }) => name);
  };
  const takeOnly = (name: NodeName) => pool.query('UPDATE node SET cordoned = name <> $1', [name]);

  const ready = async () => {
    await beat('hangs', 'stays', 'dies');
    return readyNames();
  };
  await eventually('all nodes are ready', ready, (names) => names.length === 3);
  await takeOnly('stays');
  const volumeId = await aVolume(owner, 'to-be-deleted');
  const stateOf = async () => {
    await beat('hangs', 'stays', 'dies');
    return (await store.loadVolume(volumeId))?.volume.lifecycle.state;
  };
  await eventually('it is made', stateOf, (state) => state === 'detached');
  await takeOnly('hangs');
  for (let n = 0; n < CREATIONS; n += 1) {
    await aVolume(owner, `waits-${n}`);
    if (n % 50 === 0) await beat('hangs', 'stays', 'dies');
  }

  dying.server.closeAllConnections();
  dying.server.close();
  const askedBefore = staying.given;
  await requestDelete({ store, clock: systemClock, random: systemRandom }, { volumeId });
  await eventually(
    'the delete has come to the agent of the copy, and the dead node is told',
    async () => {
      await beat('hangs', 'stays');
      return { names: await readyNames(), asked: staying.given - askedBefore };
    },
    ({ names, asked }) => names.sort().join() === 'hangs,stays' && asked > 0,
  );
  const { rows } = await pool.query("SELECT FROM volume WHERE state = 'creating'");
  expect(rows.length).toBeGreaterThan(CREATIONS * 0.9);
});

/** The agent answers that it is alive, and of all else nothing or that it is done. */
async function anAgent(manner: 'hangs' | 'answers'): Promise<Agent> {
  const server = http.createServer((request, response) => {
    if (request.url === '/livez' || manner === 'answers') {
      if (request.url !== '/livez') agent.given += 1;
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    agent.given += 1;
    response.once('close', () => {
      agent.left += 1;
    });
  });
  const agent: Agent = { server, url: '', given: 0, left: 0 };
  agents.push(agent);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address of this kind.
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return agent;
}

async function aNode({ clusterId }: Owner, name: NodeName, { url }: Agent): Promise<void> {
  const disks = [aDiskReport(asId(testId(NODES[name])))];
  await store.recordHeartbeat(clusterId, aHeartbeat(name, { node: { controlUrl: url }, disks }));
}

async function aVolume(owner: Owner, name: string) {
  const ports = { store, clock: systemClock, random: systemRandom };
  const { organizationId, projectId, clusterId } = owner;
  const input = { organizationId, projectId, clusterId, name, sizeBytes: GIB / 64, numberOfReplicas: 1 };
  return (await createVolume(ports, input)).volumeId;
}

async function anOrganization(): Promise<Owner> {
  const [organizationId, projectId, clusterId] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'other', now())`, [
    organizationId,
  ]);
  for (const [table, id] of [
    ['project', projectId],
    ['cluster', clusterId],
  ]) {
    await pool.query(
      `INSERT INTO ${table} (id, organization_id, name, created_at) VALUES ($1, $2, 'other', now())`,
      [id, organizationId],
    );
  }
  return { organizationId: asId(organizationId), projectId: asId(projectId), clusterId: asId(clusterId) };
}
