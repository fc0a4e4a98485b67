/**
 * The agent's state files as earlier versions have written them: each must be read for as long as its format is supported. A file here
 * is never changed; a change that needs that is a new format, with a file of its own.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { volumeDescriptionSchema } from '@holdfast/core/model/copy-description.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { Replica } from '@holdfast/data-engine/replica/replica.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readIdentity } from '../../src/disks/identity.js';
import { KnownDisks } from '../../src/disks/known-disks.js';
import { IdentityFolder } from '../../src/identity/stored-identity.js';

const [FIRST_DISK, SECOND_DISK] = [1, 2].map((n) => `01a20000-0000-7000-8000-00000000000${n}`);
const FOLDER = '/var/lib/holdfast/disk-1';

let state: string;
beforeEach(() => {
  state = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-formats-'));
});
afterEach(() => fs.rmSync(state, { recursive: true }));

/** Puts a kept file where the agent looks for it. */
function put(kept: string, ...at: string[]): void {
  const file = path.join(state, ...at);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.copyFileSync(path.join(import.meta.dirname, kept), file);
}

describe('disks.json', () => {
  test('from before users could add and remove disks is read, and goes on', async () => {
    put('disks-1-first.json', 'disks.json');
    const disks = await KnownDisks.load(state);
    expect([disks.diskIn(FOLDER), disks.added, disks.isRemoved(FOLDER)]).toEqual([FIRST_DISK, [], false]);
    await disks.noteRemoved(FOLDER, true);
    const again = await KnownDisks.load(state);
    expect([again.diskIn(FOLDER), again.isRemoved(FOLDER)]).toEqual([undefined, true]);
  });

  test('of today is read', async () => {
    put('disks-1.json', 'disks.json');
    const disks = await KnownDisks.load(state);
    expect(disks.added).toEqual([
      {
        diskId: SECOND_DISK,
        name: 'disk-2',
        path: '/dev/disk/by-id/example-1',
        type: 'block',
        sizeBytes: 2 ** 30,
      },
    ]);
    expect([disks.diskIn(FOLDER), disks.isRemoved('/var/lib/holdfast/disk-0')]).toEqual([FIRST_DISK, true]);
  });

  test('of a newer format is refused, with its path', async () => {
    const file = path.join(state, 'disks.json');
    fs.writeFileSync(file, '{ "format": 2, "disks": {} }');
    await expect(KnownDisks.load(state)).rejects.toThrow(`${file} is not readable`);
  });
});

test('the identity of a node is read', async () => {
  put('identity.json', 'identity', 'identity.json');
  expect(await (await IdentityFolder.open(state)).read()).toEqual({
    nodeId: '01a20000-0000-7000-8000-000000000003',
    clusterId: '01a20000-0000-7000-8000-000000000004',
    keyPem: 'the key of the node, in PEM',
    certificatePem: 'its certificate, in PEM',
    authorities: ['an authority that it trusts, in PEM'],
    receivedAtMs: 1_795_000_000_000,
    lifeMs: 86_400_000,
  });
});

/**
 * The folder of a disk as the local stack has written it: a volume of three copies was attached, written and snapshotted, one node died,
 * and the volume was written again, before all was stopped.
 */
describe('the folder of a disk', () => {
  const COPY = '01a2152b-88e5-773a-992c-ca0174926064';
  const DEAD = '01a2152b-88e5-743b-8548-01fd0e7f66ea';
  const BLOCK = 4096;

  beforeEach(() => {
    execFileSync('tar', ['-C', state, '-xzf', path.join(import.meta.dirname, 'disk-1.tar.gz')]);
  });

  test('has its identity', async () => {
    expect(await readIdentity(state)).toBe('bf7e94f2-b8b6-4218-8819-ceff64454059');
  });

  test('has a copy that knows its volume, what is durable of its record, and what a dead copy missed', async () => {
    const replica = await Replica.open(state, asId<ReplicaId>(COPY));
    const { diskId, volume, record, layers } = replica.metadata;
    expect(diskId).toBe('bf7e94f2-b8b6-4218-8819-ceff64454059');
    expect(volumeDescriptionSchema.parse(volume)).toMatchObject({ name: 'data', numberOfReplicas: 3 });
    expect(record).toMatchObject({ epoch: 1, dataGeneration: 4, durable: { epoch: 1, dataGeneration: 3 } });
    expect(record?.members).not.toContain(DEAD);
    expect(layers.map(({ name }) => name)).toEqual(['before', `drop-${DEAD}`, 'head']);
    expect(layers[1]?.drop).toMatchObject({ replicaIds: [DEAD], sinceEpoch: 1 });
    const bytes = contiguous(await replica.read(0, 4 * BLOCK));
    expect(bytes.equals(Buffer.concat([1, 2, 3, 0].map((value) => Buffer.alloc(BLOCK, value))))).toBe(true);
    await replica.close();
  });
});
