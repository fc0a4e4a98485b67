/** The control plane's own processes die in mid-rebuild, with the queue on either backend: I/O goes on, and nothing is lost. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

type Volume = { id: string; robustness: string; endpoint: { nbdUri: string } | null };

/** Backends of the queue: the embedded one always; Redis where a server is installed. */
const QUEUES = hasRedis() ? (['postgres', 'redis'] as const) : (['postgres'] as const);

let stack: LocalStack;
const read = async (id: string) => (await stack.call<Volume>('GET', `/volumes/${id}`)).body;

async function createAttached(name: string, node: string): Promise<Volume> {
  await stack.cliJson<Volume>('volume', 'create', name, '--size', '256Mi', '--replicas', '3');
  return stack.cliJson<Volume>('volume', 'attach', name, '--node', node);
}

describe.each(QUEUES)('with the queue on %s', (queue) => {
  let redis: RedisServer | undefined;

  beforeAll(async () => {
    redis = queue === 'redis' ? await startRedis() : undefined;
    stack = await LocalStack.start(redis === undefined ? {} : { env: { REDIS_URL: redis.url } });
  });

  afterAll(async () => {
    await stack?.destroy();
    await redis?.stop();
  });

  test('worker and api are killed in mid-rebuild: nothing is lost and the volume ends healthy', async () => {
    const volume = await createAttached('unshaken', 'node-1');
    const client = await connectNbd(volume.endpoint?.nbdUri ?? '');
    for (let offset = 0; offset < 192 * MIB; offset += MIB) {
      await client.write(offset, [pattern(offset, MIB)], MIB, { fua: false });
    }
    await client.flush();
    stack.killAgent('node-3');
    await eventually(
      'it is degraded',
      () => read(volume.id),
      (answer) => answer.robustness === 'degraded',
    );
    expect((await stack.cli('local', 'start-agent', 'node-3')).exitCode).toBe(0);

    process.kill(stack.local.processes.worker, 'SIGKILL');
    process.kill(stack.local.processes.api, 'SIGKILL');
    // I/O does not need the control plane.
    await client.write(0, [pattern(7, MIB)], MIB, { fua: true });
    const ask = () => read(volume.id).catch(() => undefined);
    await eventually('it is healthy again', ask, (answer) => answer?.robustness === 'healthy');
    expect(Buffer.concat(await client.read(0, MIB)).equals(pattern(7, MIB))).toBe(true);
    expect(Buffer.concat(await client.read(100 * MIB, MIB)).equals(pattern(100 * MIB, MIB))).toBe(true);
    client.close();
    await stack.cliJson('volume', 'detach', 'unshaken');
    expect(await stack.cliJson('volume', 'verify', 'unshaken')).toMatchObject({ equal: true });
  });
});
