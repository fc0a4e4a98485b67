/**
 * Background work of the worker, over the public surface, on real processes and real bytes: snapshots at set times, the
 * periodic check that finds a damaged copy, and the rebuild of a detached volume.
 */
import fs from 'node:fs';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** Time limit of a test: a cron has whole minutes, and these wait for three of them. */
const STORY_TIMEOUT_MS = 300_000;
const TWO_MINUTES_MS = 130_000;

type Snapshot = { name: string; state: string; checksum: string | null; recurringName: string | null };
type Volume = {
  state: string;
  robustness: string;
  integrityCheckedAt: string | null;
  endpoint: { nbdUri: string } | null;
  conditions: { type: string; status: string; reason: string }[];
  replicas: { id: string; nodeId: string; failedAt: string | null }[];
};
type Event = { type: string; message: string };

let stack: LocalStack;

beforeAll(async () => {
  stack = await LocalStack.start();
  await stack.cliJson('volume', 'create', 'pg-data', '--size', '64Mi', '--replicas', '3');
  await stack.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
  await write();
}, STORY_TIMEOUT_MS);

afterAll(async () => {
  await stack?.destroy();
}, STORY_TIMEOUT_MS);

const volume = () => stack.cliJson<Volume>('volume', 'get', 'pg-data');
const list = async <T>(...args: string[]) => (await stack.cliJson<{ items: T[] }>(...args)).items;
const snapshots = () => list<Snapshot>('snapshot', 'list', 'pg-data');
const setSetting = (name: string, value: string) => stack.cliJson('setting', 'set', name, value);

async function write(): Promise<void> {
  const client = await connectNbd((await volume()).endpoint?.nbdUri ?? '');
  await client.write(0, [Buffer.alloc(MIB, 7)], MIB, { fua: true });
  client.close();
}

test(
  'a snapshot is taken when its time comes',
  async () => {
    const schedule = ['snapshot', 'schedule'];
    await stack.cliJson(...schedule, 'set', 'pg-data', 'minutely', '--cron', '* * * * *', '--retain', '1');
    const ready = async () => (await snapshots()).filter(({ state }) => state === 'ready');
    const [first] = await eventually('the first is taken', ready, (all) => all.length > 0, TWO_MINUTES_MS);
    expect(first).toMatchObject({
      recurringName: 'minutely',
      name: expect.stringMatching(/^minutely-\d{8}T\d{4}Z$/),
    });
    expect((await stack.cli(...schedule, 'list', 'pg-data')).stdout).toMatch(/minutely +\* \* \* \* \* +1/);
    await stack.cli(...schedule, 'delete', 'pg-data', 'minutely');
  },
  STORY_TIMEOUT_MS,
);

test(
  'the periodic check hashes a snapshot, and the next check finds the copy that its disk has changed',
  async () => {
    await setSetting('snapshot-data-integrity', 'enabled');
    await setSetting('snapshot-data-integrity-cronjob', '* * * * *');
    const isHashed = (all: Snapshot[]) => all.every(({ checksum }) => checksum !== null);
    await eventually('it is hashed unasked', snapshots, isHashed, TWO_MINUTES_MS);
    const { replicas } = await volume();
    const victim = stack.local.agents.find(({ name }) => name === 'node-3');
    damage(victim?.disks ?? [], replicas.find(({ nodeId }) => nodeId === victim?.nodeId)?.id ?? '');
    const failures = () => stack.call<{ items: Event[] }>('GET', '/events?filter=type%3DReplicaFailed');
    const isDropped = ({ body }: { body: { items: Event[] } }) => body.items.length > 0;
    await eventually('the damaged copy is dropped', failures, isDropped, TWO_MINUTES_MS);
    await eventually('it is rebuilt', volume, ({ robustness }) => robustness === 'healthy', TWO_MINUTES_MS);
    await stack.cli('setting', 'reset', 'snapshot-data-integrity-cronjob');
  },
  STORY_TIMEOUT_MS,
);

test(
  'a detached volume gets its missing copy back without a user attaching it',
  async () => {
    const lost = stack.local.agents.find(({ name }) => name === 'node-2');
    process.kill(-(lost?.pid ?? 0), 'SIGKILL');
    await eventually(
      'the copy is dropped',
      volume,
      ({ replicas }) => replicas.some(({ failedAt }) => failedAt),
      60_000,
    );
    await write();
    await stack.cliJson('volume', 'detach', 'pg-data');
    await stack.cliJson('volume', 'set', 'pg-data', '--offline-rebuilding', 'enabled');
    await stack.cli('local', 'start-agent', 'node-2');
    let addresses = 0;
    const look = async () => {
      const seen = await volume();
      if (seen.endpoint !== null) addresses += 1;
      return seen;
    };
    // The condition follows at the volume's next reconciliation.
    const isWell = ({ robustness, state, conditions }: Volume) =>
      robustness === 'healthy' &&
      state === 'detached' &&
      conditions.some(({ type, reason }) => type === 'OfflineRebuilding' && reason === 'Healthy');
    await eventually('all copies are full, and the volume says so', look, isWell, TWO_MINUTES_MS);
    expect(addresses).toBe(0);
    expect((await stack.cli('volume', 'verify', 'pg-data')).stdout).toContain('all copies are equal');
  },
  STORY_TIMEOUT_MS,
);

/** Changes one byte of a frozen layer's file and keeps the file's times, as rot on a disk does. */
function damage(disks: readonly string[], replicaId: string): void {
  const files = disks
    .flatMap((disk) => fs.readdirSync(disk, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.parentPath.includes(replicaId))
    .map((entry) => path.join(entry.parentPath, entry.name));
  const layer = files.find((file) => fs.statSync(file).blocks * 512 >= MIB);
  if (layer === undefined) throw new Error(`no layer of replica ${replicaId} in ${disks.join(', ')}`);
  const { atime, mtime } = fs.statSync(layer);
  const file = fs.openSync(layer, 'r+');
  fs.writeSync(file, Buffer.from([1]), 0, 1, 4096);
  fs.closeSync(file);
  fs.utimesSync(layer, atime, mtime);
}
