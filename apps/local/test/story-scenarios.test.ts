/** Scenario files that say so run on a real local stack too: the same stories, on real processes and in real time. */
import fs from 'node:fs';
import path from 'node:path';
import { LocalStack, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 120_000;
const FOLDER = path.join(repositoryRoot, 'scenarios');
const files = fs
  .readdirSync(FOLDER)
  .filter((file) => /^against: \[.*local/m.test(fs.readFileSync(path.join(FOLDER, file), 'utf8')));

let stack: LocalStack;

beforeAll(async () => {
  stack = await LocalStack.start();
}, STORY_TIMEOUT_MS);

afterAll(async () => {
  await stack?.destroy();
}, STORY_TIMEOUT_MS);

const simulate = (file: string) => stack.cli('simulate', '--against', 'local', path.join(FOLDER, file));

test.each(files)(
  'the scenario in %s passes on the local stack',
  async (file) => {
    const { exitCode, stdout, stderr } = await simulate(file);
    expect({ exitCode, told: stderr, last: stdout.trim().split('\n').at(-1), stdout }).toMatchObject({
      exitCode: 0,
      told: '',
      last: '1 passed, 0 failed',
    });
  },
  STORY_TIMEOUT_MS,
);

test('enough scenarios run there, and one that is not meant to is refused', async () => {
  expect(files.length).toBeGreaterThanOrEqual(15);
  const refused = await simulate('V23-replace-after-the-wait.yaml');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--against local') });
});

test(
  'a stack that holds volumes is left alone',
  async () => {
    await stack.cliJson('volume', 'create', 'mine', '--size', '64Mi');
    const { exitCode, stdout } = await simulate('V25-deleted-replica-does-not-wait.yaml');
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('holds volumes'),
    });
    expect((await stack.cliJson<{ items: { name: string }[] }>('volume', 'list')).items).toMatchObject([
      { name: 'mine' },
    ]);
  },
  STORY_TIMEOUT_MS,
);
