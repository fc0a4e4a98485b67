/**
 * A volume that fits nowhere says why and what would help; the cure is simulated, then applied, and the volume has its
 * places.
 */
import fs from 'node:fs';
import path from 'node:path';
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

type Explained = {
  sentence: string;
  replicas: { recorded: { sentence: string } | null; nodeName: string | null }[];
  next: { outcome: string; cures: { changes: { kind: string; setting?: string; to?: unknown }[] }[] };
};

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
});

afterAll(async () => {
  await cluster?.destroy();
});

async function explained(): Promise<Explained> {
  return JSON.parse((await cluster.cli('volume', 'explain', 'huge', '-o', 'json')).stdout);
}

test('explained, simulated, cured', async () => {
  // Disks of 20 GiB: one copy of 30 GiB is too much for each.
  const created = await cluster.cli('volume', 'create', 'huge', '--size', '30Gi', '--disk-choice', 'pack');
  expect(created).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^huge: creating, 0 of 3 copies have a place\n$/),
    stderr: expect.stringContaining('No disk can take this replica'),
  });

  const text = await cluster.cli('volume', 'explain', 'huge');
  expect(text.exitCode).toBe(0);
  expect(text.stdout.split('\n')[0]).toMatch(/^0 of 3 replicas of huge have a place\. No disk can take/);
  expect(text.stdout).toMatch(/RULE +ASKED +REFUSED/);
  const before = await explained();
  expect(before.next.outcome).toBe('unplaced');
  expect(before.replicas.map(({ recorded }) => recorded?.sentence)).toEqual(
    Array(3).fill(expect.any(String)),
  );
  const [change] = before.next.cures[0]?.changes ?? [];
  expect(change).toMatchObject({ kind: 'set-setting', setting: 'storage-over-provisioning-percentage' });

  const whatIf = ['placement', 'simulate', '--count', '1', '--size', '30Gi'];
  const asItIs = await cluster.cli(...whatIf);
  expect(asItIs).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining('The new volume does not fit'),
  });
  const cured = await cluster.cli(...whatIf, '--set', `${change?.setting}=${change?.to}`);
  expect(cured).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fit') });
  expect((await cluster.cli(...whatIf, '--lose-node', 'no-such-node')).exitCode).toBe(2);
  const file = path.join(cluster.home, 'what-if.yaml');
  fs.writeFileSync(
    file,
    'volumes: [{ count: 1, size: 30Gi }]\nadd: { nodes: [{ name: big, disks: [{ size: 1Ti }], count: 3 }] }',
  );
  const fromFile = await cluster.cli('placement', 'simulate', '-f', file, '-o', 'json');
  expect(fromFile.exitCode).toBe(0);
  expect(JSON.parse(fromFile.stdout)).toMatchObject({ allFit: true, shapes: [{ fit: 1 }] });

  expect((await cluster.cli('setting', 'set', String(change?.setting), String(change?.to))).exitCode).toBe(0);
  const placed = await eventually(
    'every copy has a place',
    explained,
    ({ sentence }) => sentence === 'All 3 replicas of huge have a place.',
  );
  expect(placed.replicas.map(({ recorded }) => recorded)).toEqual([null, null, null]);
  const { body } = await cluster.call<{ items: { size: number; replicaDiskChoice: string }[] }>(
    'GET',
    '/volumes',
  );
  expect(body.items).toMatchObject([{ size: 30 * GIB, replicaDiskChoice: 'pack' }]);
});
