/** A worker process, an agent that takes calls and answers none, and another organization, whose volumes wait for nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ClusterId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
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
const NAMES = { hangs: 'hangs', answers: 'answers' };

type Owner = { organizationId: OrganizationId; projectId: ProjectId; clusterId: ClusterId };
/** `given`: calls that came in; `left`: of those, calls that the worker has given up. */
type Agent = { server: http.Server; url: string; given: number; left: number };

let database: TestDatabase;
let pool: Pool;
let store: PostgresStore;
let worker: ChildProcess;
const agents: Agent[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
  store = new PostgresStore(systemScope(pool));
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
  const hung = await seedTestDatabase(database);
  const hanging = await anAgent('hangs');
  const other = await anOrganization();
  const answering = await anAgent('answers');
  await aNode(hung, NAMES.hangs, hanging);
  await aNode(other, NAMES.answers, answering);
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
      await aNode(other, NAMES.answers, answering);
      return store.loadVolume(volumeId);
    },
    (found) => found?.volume.lifecycle.state === 'detached',
  );
  expect(view?.replicas.map(({ provisioned }) => provisioned)).toEqual([true]);
});

/** The agent answers that it is alive, and of all else nothing or that it is done. */
async function anAgent(manner: 'hangs' | 'answers'): Promise<Agent> {
  const server = http.createServer((request, response) => {
    if (request.url === '/livez' || manner === 'answers') {
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

async function aNode({ clusterId }: Owner, name: string, { url }: Agent): Promise<void> {
  const disks = [aDiskReport(asId(testId(name === NAMES.hangs ? 801 : 802)))];
  await store.recordHeartbeat(clusterId, aHeartbeat(name, { node: { controlUrl: url }, disks }));
}

async function aVolume(owner: Owner, name: string) {
  const ports = { store, clock: systemClock, random: systemRandom };
  const { organizationId, projectId, clusterId } = owner;
  const input = { organizationId, projectId, clusterId, name, sizeBytes: GIB / 16, numberOfReplicas: 1 };
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
