/** Doors between agents and the control plane: each of these was open to whoever had the one token of all agents. */
import { randomUUID } from 'node:crypto';
import https from 'node:https';
import { AGENT_PROTOCOL_VERSION } from '@holdfast/core/model/agent-protocol.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type DiskId, type VolumeId } from '@holdfast/core/model/ids.js';
import { makeAuthority, readRequest, signNodeCertificate } from '@holdfast/identity/authority.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';
import { holderProof } from '@holdfast/identity/copy-secret.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { aDiskReport, aHeartbeat, anEngineReport } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';
import { TestAgent } from './test-agent.js';

let api: ApiFixture;
let tokens: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  tokens = `/clusters/${api.seed.clusterId}/join-tokens`;
});
afterAll(() => api?.stop());

async function joinToken(body: Json = {}): Promise<string> {
  const made = await api.call('POST', tokens, { body });
  expect(made.status).toBe(201);
  return String(made.body.token);
}

async function eventsOf(nodeId: string): Promise<unknown[]> {
  const { rows } = await api.owner.query('SELECT type FROM event WHERE subject_id = $1 ORDER BY id', [
    nodeId,
  ]);
  return rows.map(({ type }) => type);
}

const REFUSED = (status: number, code: string) => ({ status, body: { code } });

describe('joining', () => {
  test('gives a new name a node, its certificate, and an event', async () => {
    const agent = new TestAgent(api, 'join-1');
    const token = await joinToken({ name: 'rack 7' });
    const { body: served } = await api.call('GET', '/agent/authorities', { token: null });
    const [authority] = Array.isArray(served.authorities) ? served.authorities : [];
    expect(token.endsWith(`.${fingerprintOf(String(authority))}`)).toBe(true);
    expect(await agent.join({ token })).toMatchObject({ status: 200 });
    const heard = await agent.beat(aHeartbeat('join-1'));
    expect(heard).toMatchObject({ status: 200, body: { nodeId: agent.nodeId, intervalMs: 2_000 } });
    expect(await eventsOf(agent.nodeId)).toContain('NodeJoined');
    const { body } = await api.call('GET', `${tokens}?filter=${encodeURIComponent('name="rack 7"')}`);
    expect(body.items).toEqual([expect.objectContaining({ uses: 1, usesMax: 1, nodeName: null })]);
    expect(JSON.stringify(body)).not.toContain(token.split('.')[0]);
  });

  test('with a token for one node works once', async () => {
    const token = await joinToken();
    await api.agent('once-1', { token });
    const second = await new TestAgent(api, 'once-2').join({ token });
    expect(second).toMatchObject(REFUSED(403, 'join_token.refused'));
    expect(second.body.detail).toContain('used 1 times');
  });

  test('is bounded by the token, whatever the names', async () => {
    const token = await joinToken({ usesMax: 3 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => new TestAgent(api, `many-${n}`).join({ token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
  });

  test.each<[string, Json]>([
    ['more uses than a cluster should trust one secret with', { usesMax: 65 }],
    ['several uses for one node', { usesMax: 2, nodeName: 'node-1' }],
    ['a life of months', { lifeMinutes: 100_000 }],
  ])('a token for %s is not made', async (_what, body) => {
    expect(await api.call('POST', tokens, { body })).toMatchObject({ status: 422 });
  });

  test('with a token that ran out, was deleted or never was is refused', async () => {
    const expired = await joinToken({ name: 'expired' });
    await api.owner.query(
      `UPDATE join_token SET expires_at = now() - interval '1 second' WHERE name = 'expired'`,
    );
    const late = await new TestAgent(api, 'late').join({ token: expired });
    expect(late).toMatchObject(REFUSED(403, 'join_token.refused'));
    expect(late.body.detail).toContain('ran out');

    const { body } = await api.call('POST', tokens, { body: {} });
    const path = `${tokens}/${body.id}`;
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await api.call('DELETE', path)).toMatchObject(REFUSED(404, 'join_token.not_found'));
    for (const token of [String(body.token), 'hfj_guess', api.seed.token, undefined]) {
      const answer = await new TestAgent(api, 'late').join({ token });
      expect(answer).toMatchObject(REFUSED(403, 'join_token.refused'));
    }
  });

  test('with a clock ten minutes off says so, and by how much', async () => {
    const agent = new TestAgent(api, 'slow-clock');
    const answer = await agent.join({ clock: new Date(Date.now() - 600_000) });
    expect(answer).toMatchObject(REFUSED(409, 'node.clock_off'));
    expect(answer.body.detail).toMatch(/(600|599|601) seconds behind/);
  });

  test('as an agent of a newer version is refused, and neither token nor name is used up', async () => {
    const token = await joinToken();
    const newer = await new TestAgent(api, 'newer').join({ token, protocol: AGENT_PROTOCOL_VERSION + 1 });
    expect(newer).toMatchObject(REFUSED(409, 'node.agent_newer'));
    expect(newer.body.detail).toContain('is of a newer Holdfast');
    expect(newer.body.cures).toEqual(expect.arrayContaining(['upgrade the APIs and workers first']));
    const agent = await api.agent('newer', { token });
    const heartbeat = aHeartbeat('newer', { node: { protocol: AGENT_PROTOCOL_VERSION + 1 } });
    expect(await agent.beat(heartbeat)).toMatchObject(REFUSED(409, 'node.agent_newer'));
    const { rows } = await api.owner.query(`SELECT FROM node WHERE name = 'newer'`);
    expect(rows).toEqual([]);
    expect((await agent.beat(aHeartbeat('newer'))).status).toBe(200);
  });

  test('as an agent from before an upgrade that was finished is refused, and its token is not used up', async () => {
    const token = await joinToken();
    const running = await api.agent('before');
    const beats = () => running.beat(aHeartbeat('before', { node: { protocol: undefined } }));
    expect((await beats()).status).toBe(200);
    await api.owner.query(`INSERT INTO version_floor VALUES (1, '', $1, now())`, [AGENT_PROTOCOL_VERSION]);
    try {
      const older = await new TestAgent(api, 'older').join({ token });
      expect(older).toMatchObject(REFUSED(409, 'node.agent_older'));
      expect(older.body.detail).toContain('is of an older Holdfast');
      const answer = await beats();
      expect(answer).toMatchObject(REFUSED(409, 'node.agent_older'));
      const { rows } = await api.owner.query(`SELECT id FROM node WHERE name = 'before'`);
      expect(await eventsOf(rows[0].id)).toContain('AgentRefused');
      const fitting = await new TestAgent(api, 'older').join({ token, protocol: AGENT_PROTOCOL_VERSION });
      expect(fitting.status).toBe(200);
    } finally {
      await api.owner.query('DELETE FROM version_floor');
    }
  });

  test('takes nothing that is not signed by its own key, and no other kinds of keys', async () => {
    const whole = await makeRequest(makeKey(), 'forged');
    const other = await makeRequest(makeKey(), 'forged');
    const body = { name: 'forged', token: api.seed.agentToken, clock: new Date().toISOString() };
    const lines = whole.trim().split('\n');
    lines[lines.length - 2] = other.trim().split('\n').at(-2) ?? '';
    for (const request of [lines.join('\n'), 'no request', '-----BEGIN CERTIFICATE REQUEST-----\n']) {
      const answer = await new TestAgent(api, 'forged').call('/agent/identity', { ...body, request });
      expect(answer).toMatchObject(REFUSED(422, 'request.invalid'));
    }
  });

  test('in clear is refused before the token is looked at', async () => {
    const body = {
      name: 'clear',
      request: await makeRequest(makeKey(), 'clear'),
      token: api.seed.agentToken,
      clock: new Date().toISOString(),
    };
    const answer = await fetch(`http://127.0.0.1:${await api.listen()}/api/v1/agent/identity`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'auth.forbidden' }]);
  });

  test.each(['two\nlines', 'clears \u001b[2J', 'one character \u009b2J', 'turned \u202e', 'tab\t'])(
    'under the name %j is refused: tables and logs show it',
    async (name) => {
      const body = { name, token: await joinToken(), clock: new Date().toISOString() };
      const request = await makeRequest(makeKey(), 'plain');
      const answer = await new TestAgent(api, name).call('/agent/identity', { ...body, request });
      expect(answer).toMatchObject(REFUSED(422, 'request.invalid'));
    },
  );

  test('is for admins to allow', async () => {
    const token = await api.tokenOfRole('operator');
    expect(await api.call('POST', tokens, { token, body: {} })).toMatchObject(REFUSED(403, 'auth.forbidden'));
    expect((await api.call('GET', tokens, { token })).status).toBe(200);
  });

  test('tokens are never told twice', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expect((await api.call('POST', tokens, { body: {}, headers })).status).toBe(201);
    expect(await api.call('POST', tokens, { body: {}, headers })).toMatchObject(
      REFUSED(409, 'idempotency.secret_not_kept'),
    );
    const { rows } = await api.owner.query(
      'SELECT body::text FROM idempotency_key UNION SELECT detail::text FROM audit_entry',
    );
    expect(JSON.stringify(rows)).not.toContain('hfj_');
  });
});

describe('a name that has joined', () => {
  test('is not given away by a token for new names, and is by one that names it', async () => {
    const first = await api.agent('held');
    await first.beat(aHeartbeat('held'));
    const thief = new TestAgent(api, 'held');
    const { controlSecret } = aHeartbeat('held').node;
    expect(await thief.join({ controlSecret })).toMatchObject(REFUSED(409, 'node.name_taken'));
    const token = await joinToken({ nodeName: 'held' });
    expect(await new TestAgent(api, 'free').join({ token })).toMatchObject(
      REFUSED(403, 'join_token.refused'),
    );

    const again = await api.agent('held', { token });
    expect(again.nodeId).toBe(first.nodeId);
    const beat = aHeartbeat('held', { node: { bootId: randomUUID() } });
    expect((await again.beat(beat)).status).toBe(200);
    expect(await first.beat(beat)).toMatchObject(REFUSED(401, 'node.identity_refused'));
  });

  test('is renewed by its key alone, also when the certificate has run out', async () => {
    const agent = await api.agent('renewed');
    const before = agent.certificatePem;
    expect(await agent.join({ token: undefined })).toMatchObject({
      status: 200,
      body: { nodeId: agent.nodeId },
    });
    expect(agent.certificatePem).not.toBe(before);
    const { rows } = await api.owner.query('SELECT certificate, key FROM authority');
    const authority = { certificatePem: rows[0].certificate, keyPem: rows[0].key };
    const key = await readRequest(await makeRequest(agent.keyPem, 'renewed'));
    if (key === undefined) throw new Error('the request is good');
    const node = { nodeId: agent.nodeId, clusterId: api.seed.clusterId, name: 'renewed' };
    const hourAgo = new Date(Date.now() - 3_600_000);
    agent.certificatePem = await signNodeCertificate(authority, node, key, {
      now: hourAgo,
      notAfter: hourAgo,
    });
    expect(await agent.beat(aHeartbeat('renewed'))).toMatchObject(REFUSED(401, 'node.identity_refused'));
    await agent.join({ token: undefined });
    expect((await agent.beat(aHeartbeat('renewed'))).status).toBe(200);
  });

  test('is not renewed by the key or the certificate of another node, stolen ones included', async () => {
    const victim = await api.agent('renewed-alone');
    const stolen = await api.agent('stolen');
    const asVictim = new TestAgent(api, 'renewed-alone', stolen.keyPem, stolen.certificatePem);
    expect((await asVictim.join({ token: undefined })).status).toBeGreaterThanOrEqual(400);
    // A request that the victim has made, seen on its way, under the thief's own certificate.
    const request = await makeRequest(victim.keyPem, 'stolen');
    const body = { name: 'stolen', request, clock: new Date().toISOString() };
    expect((await stolen.call('/agent/identity', body)).status).toBeGreaterThanOrEqual(400);
    expect((await victim.beat(aHeartbeat('renewed-alone'))).status).toBe(200);
    expect((await stolen.beat(aHeartbeat('stolen'))).status).toBe(200);
  });

  test('from before there were certificates is joined by the agent that has its secret', async () => {
    const nodeId = await api.beat(aHeartbeat('old'));
    const other = await new TestAgent(api, 'old').join({ controlSecret: 'another-secret-of-an-agent' });
    expect(other).toMatchObject(REFUSED(409, 'node.name_taken'));
    const { controlSecret } = aHeartbeat('old').node;
    expect((await api.agent('old', { controlSecret })).nodeId).toBe(nodeId);
  });

  test('is heard no more once its certificate is revoked, until another key joins for it', async () => {
    const agent = await api.agent('revoked');
    await agent.beat(aHeartbeat('revoked'));
    const path = `/clusters/${api.seed.clusterId}/nodes/${agent.nodeId}/revoke-identity`;
    expect((await api.call('POST', path, { body: {} })).status).toBe(204);
    expect(await agent.beat(aHeartbeat('revoked'))).toMatchObject(REFUSED(401, 'node.identity_refused'));
    expect(await agent.join({ token: undefined })).toMatchObject(REFUSED(401, 'node.identity_refused'));
    const token = await joinToken({ nodeName: 'revoked' });
    expect(await agent.join({ token })).toMatchObject(REFUSED(401, 'node.identity_refused'));
    const again = await api.agent('revoked', { token });
    expect((await again.beat(aHeartbeat('revoked'))).status).toBe(200);
    expect(await eventsOf(agent.nodeId)).toContain('NodeIdentityRevoked');
  });

  test('is free again when its node is deleted', async () => {
    const agent = await api.agent('deleted');
    await agent.beat(aHeartbeat('deleted'));
    const path = `/clusters/${api.seed.clusterId}/nodes/${agent.nodeId}`;
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await agent.beat(aHeartbeat('deleted'))).toMatchObject(REFUSED(401, 'node.identity_refused'));
    const next = await api.agent('deleted');
    expect(next.nodeId).not.toBe(agent.nodeId);
  });
});

test('a disk of a node that does not answer is taken over by a node that proves to have its copies, and by no other', async () => {
  const nodeId = await api.node('rebooted', 'zone-a');
  const { id: volumeId } = await api.createVolume({ numberOfReplicas: 1 });
  const { rows } = await api.owner.query('SELECT id, secret, disk_id FROM replica WHERE volume_id = $1', [
    volumeId,
  ]);
  const [{ id: replicaId, secret, disk_id: diskId }] = rows;
  await api.owner.query(
    `UPDATE node SET conditions = replace(conditions::text, 'True', 'False')::jsonb WHERE id = $1`,
    [nodeId],
  );
  const claimant = await api.agent('claimant');
  const holderAfter = async (proof?: string) => {
    const copy = {
      replicaId,
      volumeId: asId<VolumeId>(String(volumeId)),
      diskId,
      writtenBytes: 0,
      record: null,
    };
    const beat = aHeartbeat('claimant', { disks: [aDiskReport(diskId)], replicas: [{ ...copy, proof }] });
    expect((await claimant.beat(beat)).status).toBe(200);
    const disks = await api.owner.query('SELECT node_id FROM disk WHERE id = $1', [diskId]);
    return disks.rows[0].node_id;
  };
  expect(await holderAfter()).toBe(nodeId);
  expect(await holderAfter(holderProof(secret, nodeId))).toBe(nodeId);
  expect(await holderAfter(holderProof('another key', claimant.nodeId))).toBe(nodeId);
  expect(await holderAfter(holderProof(secret, claimant.nodeId))).toBe(claimant.nodeId);
});

test('a disk of another cluster is taken over by no node, silent as its own may be', async () => {
  const nodeId = await api.node('far-away', 'zone-a');
  const clusterId = String((await api.call('POST', '/clusters', { body: { name: 'far-away' } })).body.id);
  const { rows } = await api.owner.query('SELECT id FROM disk WHERE node_id = $1', [nodeId]);
  const diskId = asId<DiskId>(String(rows[0].id));
  await api.owner.query(
    `UPDATE node SET cluster_id = $2, conditions = replace(conditions::text, 'True', 'False')::jsonb WHERE id = $1`,
    [nodeId, clusterId],
  );
  await api.owner.query('UPDATE disk SET cluster_id = $2 WHERE id = $1', [diskId, clusterId]);
  const claimant = await api.agent('claimant-here');
  const beat = aHeartbeat('claimant-here', { disks: [aDiskReport(diskId)] });
  expect((await claimant.beat(beat)).status).toBe(200);
  const disks = await api.owner.query('SELECT node_id, cluster_id FROM disk WHERE id = $1', [diskId]);
  expect(disks.rows).toEqual([{ node_id: nodeId, cluster_id: clusterId }]);
});

describe('a heartbeat is refused', () => {
  test("under another node's name, three hundred names at once included", async () => {
    const agent = await api.agent('one-node');
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => agent.beat(aHeartbeat(`other-${n}`))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
    const { rows } = await api.owner.query(`SELECT FROM node WHERE name LIKE 'other-%'`);
    expect(rows).toEqual([]);
  });

  test('with a line break in what is shown of its disks and its place, and not in a message', async () => {
    const agent = await api.agent('two-lines');
    const disk = aDiskReport(asId<DiskId>(randomUUID()), { message: 'first line\nsecond line' });
    const beat = (node: object, report: object) =>
      agent.beat(aHeartbeat('two-lines', { node, disks: [{ ...disk, ...report }] }));
    for (const [pointer, answer] of [
      ['/disks/0/name', await beat({}, { name: 'ssd\nnode-9  ready' })],
      ['/disks/0/path', await beat({}, { path: '/mnt/a\tb' })],
      ['/node/zone', await beat({ zone: 'zone-a\u2028zone-b' }, {})],
    ] as const) {
      const errors = [{ pointer, detail: 'must not hold line breaks or tabs' }];
      expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid', errors } });
    }
    expect(await beat({}, {})).toMatchObject({ status: 200 });
  });

  test('by a join token, in clear or over TLS', async () => {
    const answer = await api.call('POST', '/agent/heartbeat', {
      token: api.seed.agentToken,
      body: aHeartbeat('one-node'),
    });
    expect(answer).toMatchObject(REFUSED(403, 'auth.forbidden'));
    expect(answer.body.detail).toContain('over TLS');
    const none = await new TestAgent(api, 'one-node').beat(aHeartbeat('one-node'));
    expect(none).toMatchObject(REFUSED(401, 'auth.missing'));
  });

  test('with a certificate of another authority', async () => {
    const agent = await api.agent('foreign');
    const authority = await makeAuthority(new Date());
    const key = await readRequest(await makeRequest(agent.keyPem, 'foreign'));
    if (key === undefined) throw new Error('the request is good');
    const life = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };
    const node = { nodeId: agent.nodeId, clusterId: api.seed.clusterId, name: 'foreign' };
    agent.certificatePem = await signNodeCertificate(authority, node, key, life);
    expect(await agent.beat(aHeartbeat('foreign'))).toMatchObject(REFUSED(401, 'node.identity_refused'));
  });

  test("with a certificate of one's own making for the node's name, or that of another cluster's node", async () => {
    const victim = await api.agent('victim');
    await victim.beat(aHeartbeat('victim'));
    const [victimBefore] = (await api.owner.query('SELECT * FROM node WHERE id = $1', [victim.nodeId])).rows;
    const cluster = (await api.call('POST', '/clusters', { body: { name: 'apart' } })).body;
    const { body: made } = await api.call('POST', `/clusters/${cluster.id}/join-tokens`, { body: {} });
    const namesake = await api.agent('victim', { token: String(made.token) });
    expect(namesake.nodeId).not.toBe(victim.nodeId);
    expect(await namesake.beat(aHeartbeat('victim'))).toMatchObject({
      status: 200,
      body: { nodeId: namesake.nodeId },
    });
    const [victimAfter] = (await api.owner.query('SELECT * FROM node WHERE id = $1', [victim.nodeId])).rows;
    expect(victimAfter).toEqual(victimBefore);
  });

  test('on a connection that is older than its certificate is good', async () => {
    const agent = await api.agent('long-lived');
    const { rows } = await api.owner.query('SELECT certificate, key FROM authority');
    const authority = { certificatePem: rows[0].certificate, keyPem: rows[0].key };
    const key = await readRequest(await makeRequest(agent.keyPem, 'long-lived'));
    if (key === undefined) throw new Error('the request is good');
    const node = { nodeId: agent.nodeId, clusterId: api.seed.clusterId, name: 'long-lived' };
    const life = { now: new Date(), notAfter: new Date(Date.now() + 3_000) };
    agent.certificatePem = await signNodeCertificate(authority, node, key, life);
    agent.connections = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const beat = () => agent.beat(aHeartbeat('long-lived'));
    expect((await beat()).status).toBe(200);
    const ended = await eventually('a refusal', beat, ({ status }) => status !== 200);
    expect(ended.body.detail).toContain('its certificate ran out at');
    agent.connections.destroy();
  });

  test('that sends the control plane, or users, to another machine', async () => {
    const agent = await api.agent('elsewhere');
    for (const node of [
      { controlUrl: 'http://169.254.169.254:80' },
      { controlUrl: 'http://[::ffff:a9fe:a9fe]:80' },
      { nbdHost: '10.1.2.3' },
    ]) {
      const answer = await agent.call('/agent/heartbeat', aHeartbeat('elsewhere', { node }), 'POST', {
        'x-forwarded-for': '169.254.169.254',
      });
      expect(answer).toMatchObject(REFUSED(403, 'node.address_refused'));
    }
    const { rows } = await api.owner.query(`SELECT FROM node WHERE name = 'elsewhere'`);
    expect(rows).toEqual([]);
  });

  test('of a second agent with the same certificate while the first is heard, and one event tells', async () => {
    const agent = await api.agent('twin');
    await agent.beat(aHeartbeat('twin'));
    const clone = aHeartbeat('twin', { node: { bootId: randomUUID(), controlUrl: 'http://127.0.0.1:9999' } });
    for (let n = 0; n < 3; n += 1)
      expect(await agent.beat(clone)).toMatchObject(REFUSED(409, 'node.name_taken'));
    expect((await eventsOf(agent.nodeId)).filter((type) => type === 'AgentRefused')).toHaveLength(1);
    expect((await agent.beat(aHeartbeat('twin'))).status).toBe(200);
  });
});

describe('a record', () => {
  test('is taken from the node that holds the volume, with members that are known, at its epoch', async () => {
    for (const zone of ['a', 'b', 'c']) await api.node(`copy-${zone}`, `zone-${zone}`);
    const holder = await api.agent('holder');
    const other = await api.agent('other');
    await holder.beat(aHeartbeat('holder'));
    const volume = await api.createAttachedVolume(holder.nodeId);
    const volumeId = asId<VolumeId>(String(volume.id));
    const engines = [anEngineReport({ volumeId, epoch: 1, writtenBytes: 4096 })];
    expect((await holder.beat(aHeartbeat('holder', { engines }))).status).toBe(200);
    expect((await api.call('GET', `${api.volumes}/${volumeId}`)).body.writtenBytes).toBe(4096);

    const [replica] = Array.isArray(volume.replicas) ? volume.replicas : [];
    const path = `/agent/volumes/${volumeId}/record`;
    const record = (epoch: number, members = [replica.id]) => ({ record: copyRecord(epoch, 1, members) });
    expect(await other.call(path, record(1))).toMatchObject(REFUSED(409, 'engine.stale_epoch'));
    const cluster = (await api.call('POST', '/clusters', { body: { name: 'far' } })).body;
    const { body: made } = await api.call('POST', `/clusters/${cluster.id}/join-tokens`, { body: {} });
    const far = await api.agent('holder', { token: String(made.token) });
    await far.beat(aHeartbeat('holder', { engines }));
    expect((await far.call(path, record(1))).status).toBeGreaterThanOrEqual(400);
    expect(await holder.call(path, record(1, [replica.id, randomUUID()]))).toMatchObject(
      REFUSED(403, 'engine.record_refused'),
    );
    expect(await holder.call(path, record(1))).toMatchObject({ status: 200 });
    expect(await holder.call(path, record(0))).toMatchObject(REFUSED(409, 'engine.stale_epoch'));
  });
});
