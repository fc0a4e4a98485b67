/**
 * What happens when the node that serves a volume dies or is cut off, and when two clients want the same volume. Told over the
 * public surface only.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd, NbdWorkload, pattern } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

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

let cluster: TestCluster;
const read = async (id: string) => (await cluster.call<Volume>('GET', `/volumes/${id}`)).body;
const nodeId = (name: string) => cluster.agent(name).nodeId;

async function createAttached(name: string, node: string): Promise<Volume> {
  await cluster.cliJson<Volume>('volume', 'create', name, '--size', '256Mi', '--replicas', '3');
  return cluster.cliJson<Volume>('volume', 'attach', name, '--node', node);
}

beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster?.destroy());

describe('the node that runs the engine dies', () => {
  test('the volume says where it hangs, a forced detach and an attach elsewhere serve every flushed byte, the old copy is rebuilt', async () => {
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
    cluster.killAgent('node-1');
    await workload.stop();

    const hanging = await eventually(
      'it says where it hangs',
      () => read(volume.id),
      (answer) => answer.attention !== null,
    );
    expect(hanging.attention?.message).toContain('node-1');
    expect(hanging.attention?.cures.join(' ')).toMatch(/force/);
    const refused = await cluster.call<Problem>('POST', `/volumes/${volume.id}/attach`, {
      nodeId: nodeId('node-2'),
    });
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toContain('node-1');

    await cluster.cliJson('volume', 'detach', 'takeover', '--force');
    const moved = await cluster.cliJson<Volume>('volume', 'attach', 'takeover', '--node', 'node-2');
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
    expect((await cluster.cli('local', 'start-agent', 'node-1')).exitCode).toBe(0);
    const healthy = await eventually(
      'it is healthy again',
      () => read(volume.id),
      (answer) => answer.robustness === 'healthy',
    );
    expect(healthy.attachedNodeId).toBe(nodeId('node-2'));
    const rebuilds = await cluster.call<{ items: { targetReplicaId: string; state: string }[] }>(
      'GET',
      '/rebuilds',
    );
    expect(rebuilds.body.items.find((rebuild) => rebuild.targetReplicaId === old?.id)).toMatchObject({
      state: 'succeeded',
    });

    await cluster.cliJson('volume', 'detach', 'takeover');
    expect(await cluster.cliJson('volume', 'verify', 'takeover')).toMatchObject({ equal: true });
  });
});

describe('the node that runs the engine is only cut off', () => {
  test('when it comes back, the writes of its engine are refused and the volume is what the new one wrote', async () => {
    const volume = await createAttached('cut-off', 'node-1');
    const old = await connectNbd(volume.endpoint?.nbdUri ?? '');
    await old.write(0, [pattern(1, MIB)], MIB, { fua: true });
    // Stopped, not dead: all its processes live on and keep their state.
    process.kill(-cluster.agent('node-1').pid, 'SIGSTOP');
    try {
      await eventually(
        'it says where it hangs',
        () => read(volume.id),
        (answer) => answer.attention !== null,
      );
      await cluster.cliJson('volume', 'detach', 'cut-off', '--force');
      const moved = await cluster.cliJson<Volume>('volume', 'attach', 'cut-off', '--node', 'node-2');
      const current = await connectNbd(moved.endpoint?.nbdUri ?? '');
      await current.write(0, [pattern(2, MIB)], MIB, { fua: true });

      process.kill(-cluster.agent('node-1').pid, 'SIGCONT');
      await expect(old.write(0, [pattern(3, MIB)], MIB, { fua: true })).rejects.toThrow();
      expect(Buffer.concat(await current.read(0, MIB)).equals(pattern(2, MIB))).toBe(true);
      current.close();
    } finally {
      process.kill(-cluster.agent('node-1').pid, 'SIGCONT');
    }
    await eventually(
      'it is healthy again',
      () => read(volume.id),
      (answer) => answer.robustness === 'healthy' && answer.attachedNodeId === nodeId('node-2'),
    );
    await cluster.cliJson('volume', 'detach', 'cut-off');
    expect(await cluster.cliJson('volume', 'verify', 'cut-off')).toMatchObject({ equal: true });
  });
});

describe('two clients want one volume', () => {
  test('one wins, the other gets a 409 that names the node with the volume', async () => {
    const created = await cluster.cliJson<Volume>('volume', 'create', 'contested', '--size', '64Mi');
    const attach = (node: string) =>
      cluster.call<Volume & Problem>('POST', `/volumes/${created.id}/attach`, { nodeId: nodeId(node) });
    const answers = await Promise.all([attach('node-1'), attach('node-2')]);
    const [won] = answers.filter((answer) => answer.status < 300);
    const [lost] = answers.filter((answer) => answer.status === 409);
    const served = await eventually(
      'it is attached',
      () => read(created.id),
      (answer) => answer.state === 'attached',
    );
    expect(won?.body.id).toBe(created.id);
    const winner = cluster.local.agents.find((agent) => agent.nodeId === served.attachedNodeId);
    expect(lost?.body.code).toBe('volume.attached_elsewhere');
    expect(lost?.body.detail).toContain(winner?.name ?? 'no winner');
  });
});
