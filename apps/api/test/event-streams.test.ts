/** Event streams of all clusters, and those with a filter. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { EventStreamClient } from './event-stream-client.js';

let api: ApiFixture;
let port: number;
let otherCluster: string;
const open: EventStreamClient[] = [];

beforeAll(async () => {
  api = await ApiFixture.start();
  port = await api.listen();
  otherCluster = String((await api.call('POST', '/clusters', { body: { name: 'other' } })).body.id);
});
afterAll(async () => {
  for (const stream of open) stream.close();
  await api?.stop();
});

async function follow(
  at: { filter?: string; as?: 'ids'; token?: string; clusterId?: string },
  lastEventId?: string,
) {
  const stream = EventStreamClient.open({ port, token: api.seed.token, ...at }, lastEventId);
  open.push(stream);
  await stream.until((messages) => messages.length > 0);
  return stream;
}

/** Writes an event and announces it, as every commit that has one does. */
async function tell(clusterId: string, message: string, more: { type?: string; severity?: string } = {}) {
  await api.owner.query(
    `WITH told AS (INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind,
         subject_id, message, at)
       VALUES ($1, $2::uuid, pg_current_xact_id()::text::bigint, $4, $5, 'cluster', $2::text, $3, now()) RETURNING 1)
     SELECT pg_notify('holdfast_event', concat_ws(' ', $1::text, $2::text)) FROM told`,
    [api.seed.organizationId, clusterId, message, more.type ?? 'Tested', more.severity ?? 'info'],
  );
}

const messagesOf = (stream: EventStreamClient) => stream.events.map(({ data }) => data?.message);

describe('a stream of all clusters', () => {
  test('tells of each of them in one order, and goes on where it was cut', async () => {
    const stream = await follow({});
    await tell(api.seed.clusterId, 'here');
    await tell(otherCluster, 'there');
    await stream.until(() => stream.events.length >= 2);
    expect(stream.events.map(({ data }) => [data?.message, data?.clusterId])).toEqual([
      ['here', api.seed.clusterId],
      ['there', otherCluster],
    ]);
    stream.close();
    await tell(otherCluster, 'meanwhile, there');
    await tell(api.seed.clusterId, 'meanwhile, here');
    const resumed = await follow({}, stream.events[0]?.id);
    await resumed.until(() => resumed.events.length >= 3);
    expect(messagesOf(resumed)).toEqual(['there', 'meanwhile, there', 'meanwhile, here']);
  });

  test('tells another organization nothing', async () => {
    const { token, clusterId } = await api.otherTenant();
    const theirs = await follow({ token });
    await tell(api.seed.clusterId, 'not for others');
    const ours = await follow({});
    await tell(api.seed.clusterId, 'seen by us');
    await ours.until(() => messagesOf(ours).includes('seen by us'));
    expect(theirs.events).toEqual([]);
    expect((await api.call('GET', '/events', { token })).body.items).toEqual([]);
    expect(clusterId).not.toBe(api.seed.clusterId);
  });
});

test('a stream ends when the roles of its token change, by the check that ends those of revoked tokens', async () => {
  const made = async () =>
    (await api.call('POST', '/tokens', { body: { name: 'streams', role: 'admin' } })).body;
  const [changed, revoked] = [await made(), await made()];
  const ofChanged = await follow({ token: String(changed.token) });
  const ofRevoked = await follow({ token: String(revoked.token) });
  await api.owner.query(`UPDATE token SET role = 'viewer' WHERE id = $1`, [changed.id]);
  expect((await api.call('DELETE', `/tokens/${revoked.id}`)).status).toBe(204);
  await ofRevoked.ended;
  // One more answer from the same process: by then what it ended before has arrived.
  expect((await api.call('GET', '/sessions/current')).status).toBe(200);
  expect(ofChanged.hasEnded).toBe(true);
});

describe('a stream with a filter', () => {
  test('has the events that it names, and no changes', async () => {
    const stream = await follow({ filter: 'severity=error OR type=Wanted', clusterId: api.seed.clusterId });
    await tell(api.seed.clusterId, 'harmless');
    await tell(api.seed.clusterId, 'bad', { severity: 'error' });
    await api.createVolume();
    await tell(api.seed.clusterId, 'wanted', { type: 'Wanted' });
    await stream.until(() => stream.events.length >= 2);
    expect(messagesOf(stream)).toEqual(['bad', 'wanted']);
    expect(stream.messages.filter(({ event }) => event === 'change')).toEqual([]);
  });

  test('knows the node and the project of what an event is about', async () => {
    const nodeId = await api.node('node-1', 'zone-a');
    await api.call('POST', `/clusters/${api.seed.clusterId}/nodes/${nodeId}/cordon`);
    const { body } = await api.call('GET', `/events?filter=nodeId=${nodeId}`);
    expect(body.items).toContainEqual(expect.objectContaining({ subject: { kind: 'node', id: nodeId } }));
    const volume = await api.createVolume();
    const ofProject = await api.call('GET', `/events?filter=projectId=${api.seed.projectId}&limit=1`);
    expect(ofProject.body.items).toMatchObject([{ volumeId: volume.id }]);
  });

  test.each(['severity', 'nothing=1'])('that can not be read, as %j, is refused', async (filter) => {
    const answer = await api.call('GET', `/events/stream?filter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  });
});

describe('a stream of ids', () => {
  test('names what has changed, without what was said of it', async () => {
    const stream = await follow({ as: 'ids', clusterId: api.seed.clusterId });
    await tell(api.seed.clusterId, 'said to readers of events');
    await tell(otherCluster, 'of another cluster');
    const told = () => stream.messages.filter(({ event }) => event === 'ids');
    await stream.until(() => told().length > 0);
    expect(told()[0]).toEqual({
      event: 'ids',
      data: { event: [expect.stringMatching(/^\d+-\d+$/)], cluster: [api.seed.clusterId] },
    });
    expect(stream.events).toEqual([]);
  });

  test('is refused in another form', async () => {
    const answer = await api.call('GET', '/events/stream?as=rows');
    expect(answer.status).toBe(422);
  });
});
