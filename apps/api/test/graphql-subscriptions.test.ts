/** Subscriptions, read by the client of the protocol's own library. */

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { SUBSCRIPTION, type Subscription, subscribeTo } from './subscription-client.js';

let api: ApiFixture;
let port: number;
const open: (() => void)[] = [];

beforeAll(async () => {
  api = await ApiFixture.start();
  port = await api.listen();
});
afterAll(async () => {
  for (const close of open) close();
  await api?.stop();
});

function follow(variables: Record<string, unknown> = {}, token?: string): Subscription {
  const stream = subscribeTo(port, variables, token ?? api.seed.token);
  open.push(stream.close);
  return stream;
}

async function tell(message: string, type = 'Tested') {
  await api.owner.query(
    `WITH told AS (INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind,
         subject_id, message, at)
       VALUES ($1, $2::uuid, pg_current_xact_id()::text::bigint, $4, 'info', 'cluster', $2::text, $3, now()) RETURNING 1)
     SELECT pg_notify('holdfast_event', concat_ws(' ', $1::text, $2::text)) FROM told`,
    [api.seed.organizationId, api.seed.clusterId, message, type],
  );
}

/** Has been told of an event: from here on it misses none. */
async function following(variables: Record<string, unknown> = {}, token?: string) {
  const stream = follow(variables, token);
  while (stream.events().length === 0) {
    await tell('begin', 'Wanted');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return stream;
}

const messagesOf = (stream: Subscription) =>
  stream
    .events()
    .map(({ message }) => message)
    .filter((message) => message !== 'begin');

describe('a subscription', () => {
  test('tells events with their objects, and changes, and goes on where it was cut', async () => {
    const stream = await following();
    await tell('one');
    const volume = await api.createVolume();
    await stream.until(() => stream.messages.some(({ change }) => change !== null));
    await stream.until(() => messagesOf(stream).length >= 2);
    expect(stream.messages).toContainEqual(
      expect.objectContaining({ change: { clusterId: api.seed.clusterId, kind: 'volume', id: volume.id } }),
    );
    const [one] = stream.events().filter(({ message }) => message === 'one');
    expect(one?.cluster).toEqual({ name: expect.any(String) });
    stream.close();
    await tell('meanwhile');
    const resumed = follow({ after: one?.id });
    await resumed.until(() => messagesOf(resumed).includes('meanwhile'));
    expect(messagesOf(resumed)[0]).toContain('created');
  });

  test('with a filter has the events that it names, and no changes', async () => {
    const stream = await following({ filter: 'type=Wanted', clusterId: api.seed.clusterId });
    await tell('unwanted');
    await api.createVolume();
    await tell('wanted', 'Wanted');
    await stream.until(() => messagesOf(stream).length >= 1);
    expect(messagesOf(stream)).toEqual(['wanted']);
    expect(stream.messages.filter(({ change }) => change !== null)).toEqual([]);
  });

  test('says when what was after an event is no longer known', async () => {
    const stream = follow({ after: '1-1' });
    await stream.until(() => stream.messages.length > 0);
    expect(stream.messages[0]).toEqual({ hasGap: true, event: null, change: null });
  });

  test.each([
    { what: 'its token is revoked', method: 'DELETE', path: '' },
    { what: "its token's secret is replaced", method: 'POST', path: '/rotate' },
  ])('ends within seconds when $what', async ({ method, path }) => {
    const { body: token } = await api.call('POST', '/tokens', { body: { name: 'short-lived' } });
    const stream = await following({}, String(token.token));
    await api.call(method, `/tokens/${token.id}${path}`);
    await stream.until(() => stream.end.isComplete);
    const count = stream.messages.length;
    await tell('after the end');
    expect(stream.messages).toHaveLength(count);
  });
});

describe('a subscription is refused', () => {
  const ask = (query: string, variables: object = {}, token = api.seed.token) =>
    api.send({
      method: 'POST',
      url: '/graphql/stream',
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      payload: { query, variables },
    });

  test.each([
    ['a filter that can not be read', SUBSCRIPTION, { filter: 'severity' }, 422, 'request.invalid'],
    ['an id that is none', SUBSCRIPTION, { clusterId: 'x' }, 404, 'request.not_found'],
    ['an event that is none', SUBSCRIPTION, { after: 'x' }, 422, 'request.invalid'],
  ])('because of %s, by its code', async (_what, query, variables, status, code) => {
    const answer = await ask(query, variables);
    expect(answer.statusCode).toBe(status);
    expect(JSON.parse(answer.body).errors[0].extensions.code).toBe(code);
  });

  test("of another tenant's cluster", async () => {
    const { token } = await api.otherTenant();
    const answer = await ask(SUBSCRIPTION, { clusterId: api.seed.clusterId }, token);
    expect(JSON.parse(answer.body).errors[0].extensions.code).toBe('cluster.not_found');
  });

  test('of a caller without a token, and where it is no subscription', async () => {
    expect((await ask(SUBSCRIPTION, {}, 'nothing')).statusCode).toBe(401);
    expect((await ask('query { clusters { edges { cursor } } }')).statusCode).toBe(400);
    expect((await api.graphql('subscription { events { hasGap } }')).status).toBe(400);
    expect((await ask('subscription {')).statusCode).toBe(422);
  });

  test('beside as many as a token may have', async () => {
    const { body } = await api.call('POST', '/tokens', { body: { name: 'many' } });
    const token = String(body.token);
    await Promise.all(Array.from({ length: 32 }, () => following({}, token)));
    const answer = await ask(SUBSCRIPTION, {}, token);
    expect(answer.statusCode).toBe(429);
  });
});
