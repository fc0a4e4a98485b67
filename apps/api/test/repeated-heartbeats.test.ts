/** Heartbeats that say nothing new, through the whole API: what ends them is ended with the next one, and an agent that is refused is told why. */
import { randomUUID } from 'node:crypto';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';
import { type Answer, TestAgent } from './test-agent.js';

const ENOUGH = { status: 200, body: { isEnough: true, stamps: [] } };
const WHOLE = { status: 200, body: { isEnough: false, stamps: [] } };

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin({ heartbeatIntervalMs: 500 });
});
afterAll(() => api?.stop());

test('a report that has settled is named the next time, and counts as heard', async () => {
  const node = await settledNode('steady');
  await api.owner.query(`UPDATE node SET last_heartbeat_at = now() - interval '5 seconds' WHERE id = $1`, [
    node.id,
  ]);
  const answer = await node.repeat();
  expect(answer).toMatchObject(ENOUGH);
  // The wait for others is taken off the pause, so that heartbeats keep their distance.
  expect(answer.body.intervalMs).toBeLessThan(500);
  const { rows } = await api.owner.query(
    `SELECT last_heartbeat_at > now() - interval '4 seconds' AS heard FROM node WHERE id = $1`,
    [node.id],
  );
  expect(rows).toEqual([{ heard: true }]);
});

test('those of many nodes are stored together', async () => {
  const nodes = await Promise.all(['one', 'two', 'three'].map((name) => settledNode(`many-${name}`)));
  const answers = await Promise.all(nodes.map((node) => node.repeat()));
  expect(answers).toMatchObject([ENOUGH, ENOUGH, ENOUGH]);
  const { rows } = await api.owner.query(
    `SELECT count(DISTINCT xmin::text)::int AS transactions FROM node WHERE name LIKE 'many-%'`,
  );
  expect(rows).toEqual([{ transactions: 1 }]);
});

test('a revoked agent is refused with the next one', async () => {
  const node = await settledNode('revoked');
  const path = `/clusters/${api.seed.clusterId}/nodes/${node.id}/revoke-identity`;
  expect((await api.call('POST', path)).status).toBeLessThan(300);
  const answer = await node.repeat();
  expect(answer).toMatchObject({ status: 401, body: { code: 'node.identity_refused' } });
  expect(answer.body.detail).toContain('was revoked');
});

test('a node that is forgotten is refused with the next one', async () => {
  const node = await settledNode('forgotten');
  await api.owner.query(`UPDATE node SET conditions = '[]' WHERE id = $1`, [node.id]);
  await api.owner.query(`UPDATE node_identity SET revoked_at = now() WHERE node_id = $1`, [node.id]);
  await api.owner.query(`UPDATE node SET forget = '{}' WHERE id = $1`, [node.id]);
  expect(await node.repeat()).toMatchObject({ status: 401, body: { code: 'node.identity_refused' } });
});

test('a disk that a user adds or takes off is heard of with the next whole report', async () => {
  const node = await settledNode('disks');
  const disks = `/clusters/${api.seed.clusterId}/nodes/${node.id}/disks`;
  const added = await api.call('POST', disks, { body: { name: 'more', path: '/mnt/more', size: 2 ** 30 } });
  expect(added.status).toBe(201);
  expect(await node.repeat()).toMatchObject(WHOLE);
  const told = await node.whole();
  expect(told.body.disks).toMatchObject({ add: [{ diskId: added.body.id }] });
  await node.settle();
  expect((await api.call('DELETE', `${disks}/${added.body.id}`)).status).toBeLessThan(300);
  expect(await node.repeat()).toMatchObject(WHOLE);
});

test('a new replica with a copy there ends it', async () => {
  const node = await settledNode('replicas');
  const volume = await api.createVolume();
  await api.owner.query(
    `UPDATE replica SET node_id = $1, disk_id = $2, provisioned = true WHERE volume_id = $3`,
    [node.id, node.diskId, volume.id],
  );
  expect(await node.repeat()).toMatchObject(WHOLE);
  await node.settle();
});

test('another API process takes it, and so does one that was started anew', async () => {
  const node = await settledNode('processes');
  const beside = await OwnApi.beside(api, { heartbeatIntervalMs: 500 });
  try {
    expect(await node.repeat({}, beside)).toMatchObject(ENOUGH);
  } finally {
    await beside.app.nest.close();
  }
});

test.each([
  ['one that says it is reached elsewhere', { nbdHost: '10.1.2.3' }, 403, 'node.address_refused'],
  ['one of another report', { reportId: randomUUID() }, 200, undefined],
  ['one of another name', { name: 'other' }, 200, undefined],
  ['one of another run of the agent', { bootId: randomUUID() }, 200, undefined],
])('%s is not taken', async (_what, part, status, code) => {
  const node = await settledNode('steady');
  const answer = await node.repeat(part);
  expect(answer).toMatchObject({ status, body: code === undefined ? { isEnough: false } : { code } });
});

test('without a certificate, or in clear, it is refused', async () => {
  const body = {
    reportId: randomUUID(),
    name: 'none',
    bootId: randomUUID(),
    controlUrl: 'http://127.0.0.1:1',
    nbdHost: '127.0.0.1',
    stamps: [],
  };
  const none = new TestAgent(api, 'none');
  expect(await none.call('/agent/heartbeat/repeat', body)).toMatchObject({
    status: 401,
    body: { code: 'auth.missing' },
  });
  const clear = await api.call('POST', '/agent/heartbeat/repeat', { token: api.seed.agentToken, body });
  expect(clear).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
});

/** A ready node with a disk, whose agent has settled. */
async function settledNode(name: string): Promise<SettledNode> {
  const known = settled.get(name);
  const node = known ?? new SettledNode(await api.agent(name), asId<DiskId>(randomUUID()));
  settled.set(name, node);
  await node.whole();
  const ready = [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: new Date() }];
  await api.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [node.id, JSON.stringify(ready)]);
  await node.settle();
  return node;
}

const settled = new Map<string, SettledNode>();

class SettledNode {
  private reportId: unknown;
  private readonly bootId = randomUUID();

  constructor(
    private readonly agent: TestAgent,
    readonly diskId: DiskId,
  ) {}

  get id(): string {
    return this.agent.nodeId;
  }

  async whole(): Promise<Answer> {
    const disks = [aDiskReport(this.diskId, { copiesListed: true })];
    const answer = await this.agent.beat(
      aHeartbeat(this.agent.name, { node: { bootId: this.bootId }, disks }),
    );
    expect(answer.status).toBe(200);
    this.reportId = answer.body.reportId;
    return answer;
  }

  /** As an agent does: whole reports until naming the last one is enough. */
  async settle(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await this.whole();
      if (this.reportId !== undefined && (await this.repeat()).body.isEnough === true) return;
    }
    throw new Error(`the reports of ${this.agent.name} never settle`);
  }

  repeat(part: Json = {}, at: OwnApi = api): Promise<Answer> {
    const { node } = aHeartbeat(this.agent.name);
    const { name, controlUrl, nbdHost } = node;
    const body = {
      reportId: this.reportId,
      name,
      bootId: this.bootId,
      controlUrl,
      nbdHost,
      stamps: [],
      ...part,
    };
    const { keyPem, certificatePem } = this.agent;
    return new TestAgent(at, name, keyPem, certificatePem).call('/agent/heartbeat/repeat', body);
  }
}
