/** A node that stays dead: with no wait, its copy is built anew on a node that had none. Real processes, real bytes. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { pattern } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { readVolume, writeVolume } from '@holdfast/testkit/volume-bytes.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

type Volume = { robustness: string; replicas: { nodeId: string; mode: string | null }[] };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start({ agents: 4 });
});
afterAll(() => cluster?.destroy());

const volume = () => cluster.cliJson<Volume>('volume', 'get', 'pg-data');
const nameOf = (nodeId: string) => cluster.local.agents.find((agent) => agent.nodeId === nodeId)?.name ?? '';

test('with a fourth node and no wait, a new replica is built there, and all copies are equal', async () => {
  await cluster.cliJson('setting', 'set', 'replica-replenishment-wait-interval', '0');
  await cluster.cliJson('volume', 'create', 'pg-data', '--size', '64Mi', '--replicas', '3');
  await cluster.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
  await writeVolume(cluster, 'pg-data', 0, pattern(1, 16 * MIB));
  const before = (await volume()).replicas.map(({ nodeId }) => nameOf(nodeId));
  const lost = before.find((name) => name !== 'node-1') ?? '';
  cluster.killAgent(lost);
  const kept = before.filter((name) => name !== lost);
  const all = ['node-1', 'node-2', 'node-3', 'node-4'];
  const wanted = [...kept, ...all.filter((name) => !before.includes(name))].sort();
  await eventually('the new copy serves', volume, ({ robustness, replicas }) => {
    const serving = replicas.filter(({ mode }) => mode === 'RW').map(({ nodeId }) => nameOf(nodeId));
    return robustness === 'healthy' && serving.sort().join() === wanted.join();
  });
  expect((await readVolume(cluster, 'pg-data', 16 * MIB)).equals(pattern(1, 16 * MIB))).toBe(true);
  expect(await cluster.cli('rebuild', 'watch')).toMatchObject({ exitCode: 0 });
  await cluster.cliJson('volume', 'detach', 'pg-data');
  expect(await cluster.cliJson('volume', 'verify', 'pg-data')).toMatchObject({ equal: true });
});
