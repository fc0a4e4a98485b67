/** Bad input: it gets a clear error at the edge, the server lives on, and nothing is lost or half-made. */
import net from 'node:net';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  errors?: { pointer: string; detail: string }[];
};
type Volume = {
  id: string;
  name: string;
  state: string;
  endpoint: { nbdUri: string } | null;
  conditions: { type: string; status: string; reason: string; message: string }[];
};

let cluster: TestCluster;
const volumeNames = async () =>
  (await cluster.call<{ items: Volume[] }>('GET', '/volumes')).body.items.map(({ name }) => name).sort();

beforeAll(async () => {
  cluster = await TestCluster.start();
});

afterAll(async () => {
  await cluster?.destroy();
});

describe('creating a volume', () => {
  const good = { name: 'bad-input', size: 64 * MIB, numberOfReplicas: 1 };
  test.each([
    { what: 'size 0', body: { ...good, size: 0 }, pointer: '/size' },
    { what: 'a negative size', body: { ...good, size: -4096 }, pointer: '/size' },
    { what: 'a size that is no multiple of 4096', body: { ...good, size: 64 * MIB + 1 }, pointer: '/size' },
    { what: 'a size of 2^53', body: { ...good, size: 2 ** 53 }, pointer: '/size' },
    { what: 'a size that is text', body: { ...good, size: '1Gi' }, pointer: '/size' },
    { what: 'no size', body: { name: 'bad-input' }, pointer: '/size' },
    { what: 'no replicas', body: { ...good, numberOfReplicas: 0 }, pointer: '/numberOfReplicas' },
    { what: '21 replicas', body: { ...good, numberOfReplicas: 21 }, pointer: '/numberOfReplicas' },
    { what: 'an unknown field', body: { ...good, colour: 'red' }, pointer: '/colour' },
    { what: 'a name with a slash', body: { ...good, name: 'a/b' }, pointer: '/name' },
  ])('$what is refused and names $pointer', async ({ body, pointer }) => {
    const before = await volumeNames();
    const { status, body: problem } = await cluster.call<Problem>('POST', '/volumes', body);
    expect(status).toBe(422);
    expect(problem).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(await volumeNames()).toEqual(before);
  });

  test('a name that is taken is a 409', async () => {
    expect((await cluster.call('POST', '/volumes', { ...good, name: 'taken' })).status).toBe(201);
    const again = await cluster.call<Problem>('POST', '/volumes', { ...good, name: 'taken' });
    expect(again).toMatchObject({ status: 409, body: { code: 'volume.name_taken' } });
  });

  test('one that fits nowhere is created, and says per disk why and what would cure it', async () => {
    const { status, body } = await cluster.call<Volume>('POST', '/volumes', {
      name: 'too-large',
      size: 900 * GIB,
    });
    expect(status).toBe(201);
    const scheduled = body.conditions.find((condition) => condition.type === 'Scheduled');
    expect(scheduled).toMatchObject({ status: 'False' });
    expect(scheduled?.message).toMatch(/node-1/);
    expect(scheduled?.message).toMatch(/GiB/);
    expect((await cluster.cli('volume', 'delete', 'too-large', '--yes')).exitCode).toBe(0);
  });

  test('a body of 10 MB is a 413, whatever is in it', async () => {
    const { status, body } = await cluster.call<Problem>('POST', '/volumes', {
      name: 'x'.repeat(10_000_000),
      size: 4096,
    });
    expect(status).toBe(413);
    expect(body.code).toBe('request.too_large');
  });

  test('a body that is no JSON is a problem document too', async () => {
    const response = await fetch(`${cluster.clusterUrl}/volumes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.local.token}`, 'content-type': 'application/json' },
      body: '{"name":',
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
  });
});

describe('asking for what is not there, or may not be seen', () => {
  test.each([
    { what: 'no token', headers: {} },
    { what: 'a wrong token', headers: { authorization: 'Bearer wrong' } },
  ])('$what is a 401', async ({ headers }) => {
    const response = await fetch(`${cluster.clusterUrl}/volumes`, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
  });

  test('attaching to an unknown node names it', async () => {
    await cluster.cliJson('volume', 'create', 'homeless', '--size', '64Mi', '--replicas', '1');
    const created = (await cluster.call<{ items: Volume[] }>('GET', '/volumes')).body.items.find(
      ({ name }) => name === 'homeless',
    );
    const nodeId = '01890000-0000-7000-8000-000000000000';
    const { status, body } = await cluster.call<Problem>('POST', `/volumes/${created?.id}/attach`, {
      nodeId,
    });
    expect([404, 422]).toContain(status);
    expect(body.detail).toContain(nodeId);
  });

  test('an unknown route is a problem document', async () => {
    const { status, body } = await cluster.call<Problem>('GET', '/no-such-thing');
    expect(status).toBe(404);
    expect(body.code).toBe('request.not_found');
  });
});

describe('the NBD port', () => {
  test('survives a broken handshake and refuses requests past the end', async () => {
    await cluster.cliJson('volume', 'create', 'nbd', '--size', '64Mi', '--replicas', '2');
    const attached = await cluster.cliJson<Volume>('volume', 'attach', 'nbd');
    const uri = attached.endpoint?.nbdUri ?? '';
    await sendGarbage(Number(new URL(uri).port));
    const client = await connectNbd(uri);
    await client.write(0, [Buffer.alloc(4096, 1)], 4096, { fua: true });
    await expect(client.read(64 * MIB, 4096)).rejects.toThrow();
    await expect(client.write(64 * MIB - 4096, [Buffer.alloc(8192)], 8192, { fua: false })).rejects.toThrow();
    expect(Buffer.concat(await client.read(0, 4096)).equals(Buffer.alloc(4096, 1))).toBe(true);
    client.close();
    await expect(connectNbd(uri.slice(0, -4))).rejects.toThrow();
  });
});

/** Sends bytes that are no NBD, and waits until the server closes the connection. */
function sendGarbage(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(Buffer.alloc(4096, 0xff)));
    socket.once('close', () => resolve());
    socket.once('error', () => resolve());
    socket.resume();
  });
}
