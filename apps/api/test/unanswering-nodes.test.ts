/** A node whose agent gives no answer, through the whole API: shown with its effects while it still counts as ready. */
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';
import { EventStreamClient } from './event-stream-client.js';

const SERVED = { notServed: 1, faulted: 0, unknown: 0, degraded: 0 };

let api: ApiFixture;
let clusterId: string;
let nodeId: string;
let stream: EventStreamClient;

beforeAll(async () => {
  api = await ApiFixture.start();
  ({ clusterId } = api.seed);
  await api.node('node-1', 'a');
  nodeId = await api.node('node-2', 'b');
  const { id } = await api.createAttachedVolume(nodeId);
  await api.owner.query(`UPDATE volume SET robustness = 'healthy' WHERE id = $1`, [id]);
  stream = EventStreamClient.open({ port: await api.listen(), clusterId, token: api.seed.token });
  await stream.until((messages) => messages.length > 0);
});
afterAll(async () => {
  stream?.close();
  await api?.stop();
});

const get = async (path: string): Promise<Json> =>
  (await api.call('GET', `/clusters/${clusterId}${path}`)).body;
const typesOf = ({ conditions }: Json) =>
  (conditions as Json[]).map(({ type, status }) => `${String(type)} ${String(status)}`);
/** Changes of nodes that the stream has told. */
const changes = () => stream.messages.filter(({ data }) => data?.subject?.kind === 'node');

/** As the worker notes it that has asked node-2 in vain: in whole milliseconds, and before whatever is heard next. */
async function missNode(): Promise<string> {
  const { rows } = await api.owner.query<{ at: Date }>(
    `UPDATE node SET last_heartbeat_at = now() - interval '3 seconds',
       unanswered_at = date_trunc('milliseconds', now()) - interval '1 millisecond' WHERE id = $1
     RETURNING unanswered_at AS at`,
    [nodeId],
  );
  return rows[0]?.at.toISOString() ?? '';
}

const setReady = (status: string) =>
  api.owner.query(
    `UPDATE node SET conditions = jsonb_set(conditions, '{0,status}', to_jsonb($2::text)) WHERE id = $1`,
    [nodeId, status],
  );

test('it is a cause of risk with its effects counted, and still ready', async () => {
  expect(await get('/risk')).toMatchObject({ verdict: 'safe', causes: [] });
  const since = await missNode();
  expect(await get('/risk')).toMatchObject({
    volumes: { ...SERVED, healthy: 0 },
    causes: [{ kind: 'node', subjectId: nodeId, name: 'node-2', since, effects: SERVED }],
  });
  const node = await get(`/nodes/${nodeId}`);
  expect(typesOf(node)).toEqual(['Answering False', 'Ready True']);
  expect(node.conditions).toContainEqual({
    type: 'Answering',
    status: 'False',
    reason: 'AgentUnanswering',
    message: 'the agent on node-2 has missed a heartbeat, and does not answer',
    lastTransitionAt: since,
  });
});

test('it comes first among the nodes that need a look, and its zone counts it', async () => {
  const { items: risky } = await get('/nodes?sort=-risk,name&filter=risk=2');
  expect(risky).toMatchObject([{ name: 'node-2' }]);
  const { items: ready } = await get('/nodes?filter=ready=true');
  expect(ready).toHaveLength(2);
  const { items: zones } = await get('/zones');
  expect(zones).toMatchObject([
    { zone: 'a', nodes: { open: 1, unanswering: 0 } },
    { zone: 'b', nodes: { open: 0, unanswering: 1, notReady: 0 } },
  ]);
});

test('a disk of it that failed is no cause beside it', async () => {
  const setDisk = (status: string) =>
    api.owner.query(
      `UPDATE disk SET conditions = jsonb_set(conditions, '{0,status}', to_jsonb($2::text)) WHERE node_id = $1`,
      [nodeId, status],
    );
  await setDisk('False');
  expect((await get('/risk')).causes).toMatchObject([{ kind: 'node' }]);
  await setDisk('True');
});

test('once it is not ready that says it, and the cause lasts since it was missed', async () => {
  const since = await missNode();
  await setReady('False');
  expect((await get('/risk')).causes).toMatchObject([{ name: 'node-2', since, effects: SERVED }]);
  expect(typesOf(await get(`/nodes/${nodeId}`))).toEqual(['Ready False']);
  expect((await get('/zones')).items).toMatchObject([{}, { nodes: { notReady: 1, unanswering: 0 } }]);
  await setReady('True');
});

test('its next heartbeat ends it, and those who watch are told', async () => {
  await missNode();
  expect(changes()).toEqual([]);
  await api.beat(aHeartbeat('node-2', { node: { zone: 'b' } }));
  const { verdict, causes } = await get('/risk');
  expect([verdict, causes]).toEqual([
    'safe',
    expect.not.arrayContaining([expect.objectContaining({ kind: 'node' })]),
  ]);
  expect(typesOf(await get(`/nodes/${nodeId}`))).toEqual(['Ready True']);
  await stream.until(() => changes().length > 0);
  expect(changes()).toMatchObject([{ event: 'change', data: { subject: { id: nodeId } } }]);
});
