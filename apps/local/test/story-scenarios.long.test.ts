/**
 * Scenario files on real processes and in real time. The rules in them are proven in the simulator; here each kind of step of the
 * driver for a stack is run once: of nodes, disks, settings, volumes and copies. HOLDFAST_SCENARIOS=all runs every file that
 * names `local`, as each night does.
 */
import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const FOLDER = path.join(repositoryRoot, 'scenarios');
const EACH_KIND_OF_STEP = [
  'V05-hard-node-anti-affinity-offline.yaml',
  'V15-cordon.yaml',
  'V29-last-replica.yaml',
  'V35-disk-eviction-on-the-same-node.yaml',
  'V36-drain-block-for-eviction.yaml',
];
const files = process.env.HOLDFAST_SCENARIOS === 'all' ? filesForAStack() : EACH_KIND_OF_STEP;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster?.destroy());

const simulate = (file: string) => cluster.cli('simulate', '--against', 'local', path.join(FOLDER, file));

test.each(files)('the scenario in %s passes on the local stack', async (file) => {
  const { exitCode, stdout, stderr } = await simulate(file);
  expect({ exitCode, told: stderr, last: stdout.trim().split('\n').at(-1), stdout }).toMatchObject({
    exitCode: 0,
    told: '',
    last: '1 passed, 0 failed',
  });
});

test('a scenario that is not meant for a stack is refused', async () => {
  const refused = await simulate('V23-replace-after-the-wait.yaml');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--against local') });
});

test('a stack that holds volumes is left alone', async () => {
  await cluster.cliJson('volume', 'create', 'mine', '--size', '64Mi');
  const { exitCode, stdout } = await simulate('V25-deleted-replica-does-not-wait.yaml');
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining('holds volumes'),
  });
  expect((await cluster.cliJson<{ items: { name: string }[] }>('volume', 'list')).items).toMatchObject([
    { name: 'mine' },
  ]);
});

function filesForAStack(): string[] {
  const isForAStack = (file: string) =>
    /^against: \[.*local/m.test(fs.readFileSync(path.join(FOLDER, file), 'utf8'));
  return fs.readdirSync(FOLDER).filter(isForAStack);
}
