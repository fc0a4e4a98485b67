/** `Prefer: wait`: requests that are answered when the operation that they begin, or read, has ended. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Databases } from '../src/http/databases.js';
import { OperationWaits } from '../src/resources/operations/operation-waits.js';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

const TYPE = expect.stringContaining('application/vnd.holdfast.operation+json');

let api: OwnApi;
let nodeId: string;
let volume: Json;
let path: string;

beforeAll(async () => {
  api = await OwnApi.begin();
  nodeId = await api.node('node-1', 'zone-a');
});
afterAll(() => api?.stop());
beforeEach(async () => {
  volume = await api.createAttachedVolume(nodeId);
  path = `${api.volumes}/${volume.id}`;
});

const prefer = (wait: string) => ({ headers: { prefer: wait } });
const expand = (wait: string, token?: string) =>
  api.call('POST', `${path}/expand`, { body: { size: 2 * GIB }, ...prefer(wait), ...(token && { token }) });
const waiting = (of = api) => of.app.nest.get(OperationWaits).waitingCount;
const untilWaiting = (count: number, of = api) =>
  eventually(
    `${count} wait`,
    () => waiting(of),
    (found) => found === count,
  );
/** Changes the volume as the worker would. */
const done = () =>
  api.owner.query(`UPDATE volume SET layer_task = NULL, size_bytes = $2 WHERE id = $1`, [volume.id, 2 * GIB]);

async function begunOperation(): Promise<string> {
  const { headers } = await expand('return=minimal');
  return String(headers.location).replace('/api/v1', '');
}

describe('a request that begins an operation', () => {
  test('is answered with the operation at its end', async () => {
    const answered = expand('respond-async, wait=30');
    await untilWaiting(1);
    await done();
    const { status, headers, body } = await answered;
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'preference-applied': 'wait',
      'content-type': TYPE,
      location: `/api/v1/clusters/${api.seed.clusterId}/operations/${body.id}`,
    });
    expect(body).toMatchObject({ kind: 'expand', state: 'succeeded', finishedAt: expect.any(String) });
    expect(waiting()).toBe(0);
  });

  test('is answered with the operation as it is when the time is over', async () => {
    const { status, headers, body } = await expand('wait=1');
    expect([status, headers['preference-applied'], headers['content-type']]).toEqual([202, 'wait', TYPE]);
    expect(body).toMatchObject({ kind: 'expand', state: 'queued' });
  });

  test('is answered as ever where the preference is none, or its caller may not read operations', async () => {
    const isAsEver = ({ status, headers, body }: Awaited<ReturnType<typeof expand>>) => {
      expect([status, headers['preference-applied'], body.id]).toEqual([202, undefined, volume.id]);
    };
    isAsEver(await expand('wait=soon'));
    const made = await api.call('POST', '/tokens', {
      body: { name: 'blind', actions: ['volume:read', 'volume:write'] },
    });
    await done();
    isAsEver(
      await api.call('POST', `${path}/expand`, {
        body: { size: 3 * GIB },
        token: String(made.body.token),
        ...prefer('wait=30'),
      }),
    );
  });
});

describe('a request that reads an operation', () => {
  test('is answered at its end, and at once where it has ended', async () => {
    const operation = await begunOperation();
    const read = () => api.call('GET', operation, prefer('wait=30'));
    const answered = read();
    await untilWaiting(1);
    await done();
    const wanted = { status: 200, headers: { 'preference-applied': 'wait' }, body: { state: 'succeeded' } };
    expect(await answered).toMatchObject(wanted);
    expect(await read()).toMatchObject(wanted);
  });

  test('waits no more when its caller is gone', async () => {
    const operation = await begunOperation();
    let isAnswered = false;
    const before = api.call('GET', operation, prefer('wait=30')).finally(() => {
      isAnswered = true;
    });
    await untilWaiting(1);
    const hangUp = new AbortController();
    const asked = fetch(`http://127.0.0.1:${await api.listen()}/api/v1${operation}`, {
      headers: { authorization: `Bearer ${TEST_SECRETS.token}`, prefer: 'wait=30' },
      signal: hangUp.signal,
    }).catch(() => 'gone');
    await untilWaiting(2);
    hangUp.abort();
    expect(await asked).toBe('gone');
    await untilWaiting(1);
    // It was not the time of either that was over.
    expect(isAnswered).toBe(false);
    await done();
    expect(await before).toMatchObject({ body: { state: 'succeeded' } });
  });
});

test('a process has so many that wait, without a connection of the database, and answers them when it is to end', async () => {
  const operation = await begunOperation();
  const process = await OwnApi.beside(api);
  const read = () => process.call('GET', operation, prefer('wait=30'));
  // One after the other, as the process refuses what finds its connections in use.
  const asked: ReturnType<typeof read>[] = [];
  for (let count = 1; count <= 64; count += 1) {
    asked.push(read());
    await untilWaiting(count, process);
  }
  const tooMany = await read();
  expect([tooMany.status, tooMany.headers['preference-applied']]).toEqual([200, undefined]);
  await eventually(
    'no connection is held',
    () => process.app.nest.get(Databases).load.used,
    (used) => used === 0,
  );
  const drained = process.app.draining.begin();
  for (const { body, headers } of await Promise.all(asked)) {
    expect([headers['preference-applied'], body.state]).toEqual(['wait', 'queued']);
  }
  await drained;
  await process.app.nest.close();
});
