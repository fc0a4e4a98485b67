/** Drill of a restore: the control plane's database is lost, and made anew from a backup. The copies stay where they are. */
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { removeEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { pattern } from '@holdfast/testkit/nbd-workload.js';
import { readVolume, writeVolume } from '@holdfast/testkit/volume-bytes.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

type Volume = { state: string; robustness: string };
type Listed<Item> = { items: Item[] };

let stack: LocalStack;
beforeAll(async () => {
  stack = await LocalStack.start();
});
afterAll(() => stack?.destroy());

const volume = (name: string) => stack.cliJson<Volume>('volume', 'get', name);

test('a lost database is restored, its volumes serve the same bytes and heal, and what was made since is an orphan', async () => {
  const file = path.join(stack.home, 'backup');
  await stack.cliJson('volume', 'create', 'data', '--size', '64Mi', '--replicas', '3');
  await stack.cliJson('volume', 'attach', 'data', '--node', 'node-1');
  await writeVolume(stack, 'data', 0, pattern(1, 4 * MIB));
  const made = await stack.cliJson<{ rows: number }>('backup', 'create', file);
  expect(await stack.cliJson('backup', 'verify', file)).toMatchObject({ rows: made.rows });
  // What the copies hold is theirs: a backup is about the volumes, not about their bytes.
  await writeVolume(stack, 'data', MIB, pattern(2, MIB));
  await stack.cliJson('volume', 'create', 'later', '--size', '16Mi', '--replicas', '1');
  await stack.cliJson('volume', 'attach', 'later');
  await writeVolume(stack, 'later', 0, pattern(3, MIB));
  const wanted = await readVolume(stack, 'data', 4 * MIB);

  expect((await stack.cli('backup', 'restore', file)).stderr).toContain('not empty');
  await stack.stop();
  removeEmbeddedPostgres(path.join(stack.home, 'postgres'));
  const restored = await stack.cli('backup', 'restore', file);
  expect(restored).toMatchObject({ exitCode: 0 });
  await stack.run();

  await eventually(
    'the volume is served and whole',
    () => volume('data'),
    ({ state, robustness }) => state === 'attached' && robustness === 'healthy',
  );
  expect((await readVolume(stack, 'data', 4 * MIB)).equals(wanted)).toBe(true);
  await writeVolume(stack, 'data', 0, pattern(4, MIB));
  await stack.cliJson('volume', 'detach', 'data');
  expect((await stack.cli('volume', 'verify', 'data')).exitCode).toBe(0);
  const events = await stack.call<Listed<{ type: string }>>('GET', '/events?limit=200');
  expect(events.body.items.map(({ type }) => type)).toContain('DatabaseRestored');
  expect((await stack.cli('volume', 'get', 'later')).exitCode).toBe(5);
  const orphans = await eventually(
    'its copy is told of',
    () => stack.call<Listed<{ id: string }>>('GET', '/orphans'),
    ({ body }) => body.items.length > 0,
  );
  expect(orphans.body.items).toHaveLength(1);
});
