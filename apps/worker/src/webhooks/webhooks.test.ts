/** Delivery of webhooks to real HTTP servers, from an embedded Postgres. */
import { randomUUID } from 'node:crypto';
import type { EventType } from '@holdfast/core/model/event-types.js';
import {
  asId,
  type ClusterId,
  type OrganizationId,
  type UserId,
  type WebhookId,
} from '@holdfast/core/model/ids.js';
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  listDeliveries,
  requestRedelivery,
  rotateSecret,
  skipBacklog,
} from '@holdfast/database/queries/webhooks.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { type Scope, systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { insertEvent } from '@holdfast/database/store/events.js';
import { claimWebhook, dueWebhooks, nextDelivery } from '@holdfast/database/webhooks/deliveries.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { type Answer, TestReceiver } from '@holdfast/testkit/webhook-receiver.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deliver } from './deliver.js';
import { sendSigned } from './send-signed.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SENDING = { networks: ['127.0.0.0/8'], timeoutMs: 500 };

let database: TestDatabase;
let pool: Pool;
let system: Scope;
let organizationId: OrganizationId;
let clusterId: ClusterId;
let receiver: TestReceiver;
let id: WebhookId;

beforeAll(async () => {
  database = await startTestDatabase();
  ({ organizationId, clusterId } = await seedTestDatabase(database));
  pool = createPool(database.systemUrl, { connectionsMax: 5, applicationName: 'test' });
  system = systemScope(pool);
});
afterAll(async () => {
  await receiver?.stop();
  await pool?.end();
  await database?.stop();
});
beforeEach(async () => {
  await receiver?.stop();
  receiver = await TestReceiver.start();
  await pool.query('DELETE FROM webhook');
  id = await aWebhook();
});

const run = () => deliver({ system, sending: SENDING }, id, () => true);
const typesReceived = () => receiver.received.map(({ body }) => body.type);
const webhook = () => transaction(system, (sql) => findWebhook(sql, id));
const deliveries = async () =>
  (await transaction(system, (sql) => listDeliveries(sql, id, { limit: 50, sort: 'createdAt,id' }))).items;
const deliveryOf = async (type: EventType) => (await deliveries()).find((one) => one.type === type);
/** Makes deliveries that wait for their next attempt, and claims of dead workers, due now. */
const timePasses = () =>
  pool.query(
    `UPDATE webhook_delivery SET next_attempt_at = now() - interval '1 second' WHERE next_attempt_at > now()`,
  );

describe('a webhook', () => {
  test('gets what happens after it was made, in order, signed, each once', async () => {
    await happens('NodeReady', 'NodeCordoned', 'DiskAdded');
    expect(await dueWebhooks(system, 10)).toEqual([id]);
    await run();
    expect(typesReceived()).toEqual(['NodeReady', 'NodeCordoned', 'DiskAdded']);
    expect(receiver.received.every(({ isSignedBy }) => isSignedBy(SECRET))).toBe(true);
    expect(receiver.received[0]?.body).toMatchObject({
      timestamp: expect.any(String),
      data: { clusterId, severity: 'info', subject: { kind: 'node' }, message: 'NodeReady it is' },
    });
    expect((await deliveries()).map(({ state, lastStatus }) => [state, lastStatus])).toEqual(
      Array(3).fill(['delivered', 204]),
    );
    expect(await dueWebhooks(system, 10)).toEqual([]);
  });

  test('lists its deliveries, those of one look at the log too, by their events: the newest first', async () => {
    const types = [
      'NodeReady',
      'NodeCordoned',
      'DiskAdded',
      'NodeDrained',
      'NodeUncordoned',
      'VolumeCreated',
    ] as const;
    await happens(...types);
    await run();
    const listed = await transaction(system, (sql) => listDeliveries(sql, id, { limit: 50 }));
    expect(listed.items.map(({ type }) => type)).toEqual([...types].reverse());
  });

  test('gets what its filter lets pass', async () => {
    id = await aWebhook({ filter: 'severity=warning OR type=Disk*' });
    await happens('NodeReady', 'NodeCordoned', 'DiskAdded');
    await run();
    expect(typesReceived()).toEqual(['NodeCordoned', 'DiskAdded']);
  });

  test('is not told of a transaction that is under way, and of what comes after it only then', async () => {
    const slow = await pool.connect();
    await slow.query('BEGIN');
    await slow.query('SELECT pg_current_xact_id()');
    await happens('NodeCordoned');
    await run();
    expect(typesReceived()).toEqual([]);
    await slow.query('COMMIT');
    slow.release();
    await run();
    expect(typesReceived()).toEqual(['NodeCordoned']);
  });

  test.each<{ name: string; answer: Answer; says: string }>([
    { name: 'fails', answer: 500, says: 'it answers 500' },
    { name: 'redirects', answer: 307, says: 'it answers 307, and redirects are not followed' },
    { name: 'holds the call', answer: 'hold', says: 'its receiver did not answer within 0.5 s' },
    { name: 'loses it', answer: 'cut', says: 'its receiver closed the connection' },
  ])('whose receiver $name is told again later, with nothing overtaking it', async ({ answer, says }) => {
    receiver.answers.push(answer);
    await happens('NodeReady', 'NodeCordoned');
    await run();
    await run();
    expect(typesReceived()).toEqual(['NodeReady']);
    expect(await deliveryOf('NodeReady')).toMatchObject({ state: 'waiting', attempts: 1, lastError: says });
    expect(await webhook()).toMatchObject({ failingSince: expect.any(Date), lastDeliveredAt: null });
    await timePasses();
    await run();
    expect(typesReceived()).toEqual(['NodeReady', 'NodeReady', 'NodeCordoned']);
    expect(receiver.ids[0]).toBe(receiver.ids[1]);
    expect(await webhook()).toMatchObject({ failingSince: null, lastDeliveredAt: expect.any(Date) });
  });

  test('whose worker died behind the call gets it twice, with one id', async () => {
    await happens('NodeReady');
    const claimed = await claimWebhook(system, id, randomUUID());
    if (claimed === undefined) throw new Error('it is not claimed');
    const delivery = await nextDelivery(system, claimed);
    if (delivery === undefined) throw new Error('nothing is due');
    await sendSigned(receiver.url, { ...delivery, at: new Date() }, SENDING);
    await run();
    expect(receiver.received).toHaveLength(1);
    await pool.query(`UPDATE webhook SET claimed_until = now() - interval '1 second'`);
    await run();
    expect(receiver.ids).toEqual([delivery.id, delivery.id]);
  });

  test('has one deliverer, however many begin at once', async () => {
    await happens('NodeReady', 'NodeCordoned', 'DiskAdded');
    await Promise.all([run(), run(), run()]);
    expect(typesReceived()).toEqual(['NodeReady', 'NodeCordoned', 'DiskAdded']);
  });
});

describe('a webhook whose receiver took nothing for a day', () => {
  beforeEach(async () => {
    receiver.answers.push(500, 500);
    await happens('NodeReady', 'NodeCordoned');
    await run();
    await pool.query(`UPDATE webhook SET failing_since = now() - interval '25 hours'`);
    await timePasses();
    await run();
  });

  test('is disabled, which is an event, and goes on where it stopped when it is enabled', async () => {
    const found = await webhook();
    expect(found).toMatchObject({
      isEnabled: false,
      disabledReason: expect.stringContaining('it answers 500'),
    });
    const { rows } = await pool.query(
      `SELECT severity FROM event WHERE type = 'WebhookDisabled' AND subject_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ severity: 'error' }]);
    await run();
    expect(receiver.received).toHaveLength(2);
    const fromVersion = found?.version ?? 0;
    await transaction(system, (sql) => changeWebhook(sql, { id, fromVersion }, { isEnabled: true, madeBy }));
    await run();
    expect(typesReceived().slice(2)).toEqual(['NodeReady', 'NodeCordoned', 'WebhookDisabled']);
  });

  test('goes on with what happens from now on, where its backlog is skipped', async () => {
    const fromVersion = (await webhook())?.version ?? 0;
    await transaction(system, async (sql) => {
      await skipBacklog(sql, id);
      await changeWebhook(sql, { id, fromVersion }, { isEnabled: true, madeBy });
    });
    await happens('DiskAdded');
    await run();
    expect(typesReceived().slice(2)).toEqual(['DiskAdded']);
  });
});

test('a redelivery has the same id, waits for nothing and holds nothing up', async () => {
  await happens('NodeReady');
  await run();
  const [first] = await deliveries();
  if (first === undefined) throw new Error('nothing was delivered');
  const ask = () =>
    transaction(system, (sql) =>
      requestRedelivery(sql, { webhookId: id, deliveryId: first.id }, new Date(Date.now() - 1_000)),
    );
  expect([await ask(), await ask()]).toEqual([true, false]);
  receiver.answers.push(500);
  await happens('NodeCordoned');
  await run();
  expect(typesReceived()).toEqual(['NodeReady', 'NodeReady', 'NodeCordoned']);
  await timePasses();
  await run();
  expect(receiver.ids.filter((one) => one === first.id)).toHaveLength(3);
});

test('a new secret signs beside the one before, until the overlap is over', async () => {
  const newest = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const rotate = { now: new Date(), overlapUntil: new Date(Date.now() + 60_000) };
  await transaction(system, (sql) =>
    rotateSecret(sql, { id, organizationId }, { ...rotate, secret: { id: randomUUID(), secret: newest } }),
  );
  await happens('NodeReady');
  await run();
  await pool.query(
    `UPDATE webhook_secret SET valid_until = now() - interval '1 second' WHERE valid_until IS NOT NULL`,
  );
  await happens('NodeCordoned');
  await run();
  const signers = receiver.received.map(({ isSignedBy }) => [isSignedBy(newest), isSignedBy(SECRET)]);
  expect(signers).toEqual([
    [true, true],
    [true, false],
  ]);
});

describe('an address that is none of a receiver', () => {
  const message = { id: 'm', body: '{}', secrets: [SECRET], at: new Date() };
  const none = 'its address is none that webhooks may be sent to';

  test.each([
    { name: 'an address of the network', url: 'https://10.0.0.1/', resolve: undefined, says: none },
    { name: 'this machine', url: 'https://[::1]:5432/', resolve: undefined, says: none },
    { name: 'another spelling of it', url: 'https://2130706433/', resolve: undefined, says: none },
    { name: 'a name for it', url: 'https://rebind.test/', resolve: ['127.0.0.1'], says: none },
    {
      name: 'a public one without TLS',
      url: 'http://public.test/',
      resolve: ['1.1.1.1'],
      says: 'beyond the networks that the operator names, webhooks are sent over https only',
    },
  ])('$name is not connected to', async ({ url, resolve, says }) => {
    const options = resolve === undefined ? {} : { resolve: async () => resolve };
    const sent = await sendSigned(url, message, { networks: [], timeoutMs: 1_000, ...options });
    expect(sent).toEqual({ kind: 'refused', why: says });
  });

  test('the connection goes to the address that was checked, however the name resolves later', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return asked === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
    };
    const url = receiver.url.replace('127.0.0.1', 'changing.test');
    expect(await sendSigned(url, message, { ...SENDING, resolve })).toEqual({
      kind: 'answered',
      status: 204,
    });
    expect([asked, receiver.ids]).toEqual([1, ['m']]);
  });
});

/** Is no member, which the worker does not ask. */
const madeBy = asId<UserId>(randomUUID());

async function aWebhook({ filter = '', url = receiver.url } = {}): Promise<WebhookId> {
  const webhookId = asId<WebhookId>(randomUUID());
  const named = { id: webhookId, organizationId, name: 'test', madeBy };
  const given = { ...named, url, filter, createdAt: new Date() };
  await transaction(system, (sql) => createWebhook(sql, given, { id: randomUUID(), secret: SECRET }));
  return webhookId;
}

async function happens(...types: EventType[]): Promise<void> {
  for (const type of types) {
    const subject = { kind: 'node' as const, id: 'node-1' };
    const event = { clusterId, type, subject, volumeId: undefined, message: `${type} it is`, at: new Date() };
    await transaction(system, (sql) => insertEvent(sql, event));
  }
}
