/**
 * What happens when the node that serves a volume dies, when the control plane's own processes die, and when two
 * clients want the same volume. Told over the public surface only.
 */

import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd, NbdWorkload, pattern } from '@holdfast/testkit/nbd-workload.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 240_000;

type Volume = {
  id: string;
  name: string;
  state: string;
  robustness: string;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  attention: { code: string; message: string; cures: string[] } | null;
  replicas: { id: string; nodeId: string; mode: string | null; failedAt: string | null }[];
};
type Problem = { code: string; detail: string; status: number };

/** Backends of the queue: the embedded one always; Redis where a server is installed. */
const QUEUES = hasRedis() ? (['postgres', 'redis'] as const) : (['postgres'] as const);

let stack: LocalStack;
const read = async (id: string) => (await stack.call<Volume>('GET', `/volumes/${id}`)).body;
const nodeId = (name: string) => stack.agent(name).nodeId;

async function createAttached(name: string, node: string): Promise<Volume> {
  await stack.cliJson<Volume>('volume', 'create', name, '--size', '256Mi', '--replicas', '3');
  return stack.cliJson<Volume>('volume', 'attach', name, '--node', node);
}

describe.each(QUEUES)('with the queue on %s', (queue) => {
  let redis: RedisServer | undefined;

  beforeAll(async () => {
    redis = queue === 'redis' ? await startRedis() : undefined;
    stack = await LocalStack.start(redis === undefined ? {} : { env: { REDIS_URL: redis.url } });
  }, STORY_TIMEOUT_MS);

  afterAll(async () => {
    await stack?.destroy();
    await redis?.stop();
  }, STORY_TIMEOUT_MS);

  describe('the control plane dies', () => {
    test(
      'worker and api are killed in mid-rebuild: nothing is lost and the volume ends healthy',
      async () => {
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
          15_000,
        );
        expect((await stack.cli('local', 'start-agent', 'node-3')).exitCode).toBe(0);

        process.kill(stack.local.processes.worker, 'SIGKILL');
        process.kill(stack.local.processes.api, 'SIGKILL');
        // I/O does not need the control plane.
        await client.write(0, [pattern(7, MIB)], MIB, { fua: true });
        const ask = () => read(volume.id).catch(() => undefined);
        await eventually('it is healthy again', ask, (answer) => answer?.robustness === 'healthy', 120_000);
        expect(Buffer.concat(await client.read(0, MIB)).equals(pattern(7, MIB))).toBe(true);
        expect(Buffer.concat(await client.read(100 * MIB, MIB)).equals(pattern(100 * MIB, MIB))).toBe(true);
        client.close();
        await stack.cliJson('volume', 'detach', 'unshaken');
        expect(await stack.cliJson('volume', 'verify', 'unshaken')).toMatchObject({ equal: true });
      },
      STORY_TIMEOUT_MS,
    );
  });

  // What follows asks nothing of the queue that depends on where it is.
  if (queue === 'redis') return;

  describe('the node that runs the engine dies', () => {
    test(
      'the volume says where it hangs, a forced detach and an attach elsewhere serve every flushed byte, the old copy is rebuilt',
      async () => {
        const volume = await createAttached('takeover', 'node-1');
        const client = await connectNbd(volume.endpoint?.nbdUri ?? '');
        const workload = new NbdWorkload(client, 256);
        workload.start(6);
        await eventually(
          'the load runs',
          () => workload.operations,
          (operations) => operations > 400,
        );
        await workload.flush();
        stack.killAgent('node-1');
        await workload.stop();

        const hanging = await eventually(
          'it says where it hangs',
          () => read(volume.id),
          (answer) => answer.attention !== null,
          40_000,
        );
        expect(hanging.attention?.message).toContain('node-1');
        expect(hanging.attention?.cures.join(' ')).toMatch(/force/);
        const refused = await stack.call<Problem>('POST', `/volumes/${volume.id}/attach`, {
          nodeId: nodeId('node-2'),
        });
        expect(refused.status).toBe(409);
        expect(refused.body.detail).toContain('node-1');

        await stack.cliJson('volume', 'detach', 'takeover', '--force');
        const moved = await stack.cliJson<Volume>('volume', 'attach', 'takeover', '--node', 'node-2');
        expect(moved.attachedNodeId).toBe(nodeId('node-2'));
        const second = await connectNbd(moved.endpoint?.nbdUri ?? '');
        expect(await workload.wrongChunks(second)).toEqual([]);
        second.close();

        const degraded = await eventually(
          'it is degraded',
          () => read(volume.id),
          (answer) => answer.robustness === 'degraded',
        );
        const old = degraded.replicas.find((replica) => replica.nodeId === nodeId('node-1'));
        expect((await stack.cli('local', 'start-agent', 'node-1')).exitCode).toBe(0);
        const healthy = await eventually(
          'it is healthy again',
          () => read(volume.id),
          (answer) => answer.robustness === 'healthy',
          120_000,
        );
        expect(healthy.attachedNodeId).toBe(nodeId('node-2'));
        const rebuilds = await stack.call<{ items: { targetReplicaId: string; state: string }[] }>(
          'GET',
          '/rebuilds',
        );
        expect(rebuilds.body.items.find((rebuild) => rebuild.targetReplicaId === old?.id)).toMatchObject({
          state: 'succeeded',
        });

        await stack.cliJson('volume', 'detach', 'takeover');
        expect(await stack.cliJson('volume', 'verify', 'takeover')).toMatchObject({ equal: true });
      },
      STORY_TIMEOUT_MS,
    );
  });

  describe('the node that runs the engine is only cut off', () => {
    test(
      'when it comes back, the writes of its engine are refused and the volume is what the new one wrote',
      async () => {
        const volume = await createAttached('cut-off', 'node-1');
        const old = await connectNbd(volume.endpoint?.nbdUri ?? '');
        await old.write(0, [pattern(1, MIB)], MIB, { fua: true });
        // Stopped, not dead: all its processes live on and keep their state.
        process.kill(-stack.agent('node-1').pid, 'SIGSTOP');
        try {
          await eventually(
            'it says where it hangs',
            () => read(volume.id),
            (answer) => answer.attention !== null,
            40_000,
          );
          await stack.cliJson('volume', 'detach', 'cut-off', '--force');
          const moved = await stack.cliJson<Volume>('volume', 'attach', 'cut-off', '--node', 'node-2');
          const current = await connectNbd(moved.endpoint?.nbdUri ?? '');
          await current.write(0, [pattern(2, MIB)], MIB, { fua: true });

          process.kill(-stack.agent('node-1').pid, 'SIGCONT');
          await expect(old.write(0, [pattern(3, MIB)], MIB, { fua: true })).rejects.toThrow();
          expect(Buffer.concat(await current.read(0, MIB)).equals(pattern(2, MIB))).toBe(true);
          current.close();
        } finally {
          process.kill(-stack.agent('node-1').pid, 'SIGCONT');
        }
        await eventually(
          'it is healthy again',
          () => read(volume.id),
          (answer) => answer.robustness === 'healthy' && answer.attachedNodeId === nodeId('node-2'),
          120_000,
        );
        await stack.cliJson('volume', 'detach', 'cut-off');
        expect(await stack.cliJson('volume', 'verify', 'cut-off')).toMatchObject({ equal: true });
      },
      STORY_TIMEOUT_MS,
    );
  });

  describe('two clients want one volume', () => {
    test(
      'one wins, the other gets a 409 that names the node with the volume',
      async () => {
        const created = await stack.cliJson<Volume>('volume', 'create', 'contested', '--size', '64Mi');
        const attach = (node: string) =>
          stack.call<Volume & Problem>('POST', `/volumes/${created.id}/attach`, { nodeId: nodeId(node) });
        const answers = await Promise.all([attach('node-1'), attach('node-2')]);
        const [won] = answers.filter((answer) => answer.status < 300);
        const [lost] = answers.filter((answer) => answer.status === 409);
        const served = await eventually(
          'it is attached',
          () => read(created.id),
          (answer) => answer.state === 'attached',
        );
        expect(won?.body.id).toBe(created.id);
        const winner = stack.local.agents.find((agent) => agent.nodeId === served.attachedNodeId);
        expect(lost?.body.code).toBe('volume.attached_elsewhere');
        expect(lost?.body.detail).toContain(winner?.name ?? 'no winner');
      },
      STORY_TIMEOUT_MS,
    );
  });
});
