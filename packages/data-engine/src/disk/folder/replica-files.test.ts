import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Replica } from '../../replica/replica.js';
import { bytesOnDisk, listReplicas, makeReplicaDirectory, replicaDirectory } from './replica-files.js';

let disk: string;

beforeEach(async () => {
  disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-usage-'));
});

afterEach(() => fs.rm(disk, { recursive: true, force: true }));

test('a disk without copies holds nothing', async () => {
  expect(await bytesOnDisk(disk)).toBe(0);
});

test('what copies hold is added up', async () => {
  for (const fill of [1, 2]) {
    const replicaId = crypto.randomUUID();
    const volumeId = crypto.randomUUID();
    await Replica.create(disk, {
      replicaId,
      volumeId,
      diskId: crypto.randomUUID(),
      sizeBytes: 16 * MIB,
      secret: 'a-secret-of-sixteen',
      record: null,
    });
    const replica = await Replica.open(disk, replicaId);
    await replica.write(0, [Buffer.alloc(MIB, fill)], MIB, { fua: true, epoch: 0 });
    await replica.close();
  }
  expect(await bytesOnDisk(disk)).toBe(2 * MIB);
});

test('a copy that is just being made is left alone', async () => {
  const replicaId = crypto.randomUUID();
  await makeReplicaDirectory(disk, replicaId, async (directory) => {
    expect(await bytesOnDisk(disk)).toBe(0);
    // As an agent does now and then, to learn of copies that are lost.
    expect(await listReplicas(disk)).toEqual([]);
    await fs.writeFile(path.join(directory, 'replica.json'), '{}');
  });
  expect(await fs.readdir(replicaDirectory(disk, replicaId))).toEqual(['replica.json']);
});
