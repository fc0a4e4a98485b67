/** Volumes, unlocking and repositories for the suites. */

import type { Unlock } from '../src/codec/keys.js';
import type { BlockSink } from '../src/repository/backup-reader.js';
import { BackupReader } from '../src/repository/backup-reader.js';
import type { BlockSource } from '../src/repository/backup-volume.js';
import { Repository } from '../src/repository/repository.js';
import type { ObjectStore } from '../src/store/object-store.js';

export const BLOCK = 4096;

/** A key service that wraps without delay: scrypt takes a quarter of a second each time. */
export const unlock: Unlock = {
  kind: 'service',
  keyName: 'of-tests',
  wrap: async (dataKey) => Buffer.from(dataKey).reverse(),
  unwrap: async (wrapped) => Buffer.from(wrapped).reverse(),
};

/** A volume in memory. What is read from it is a copy. */
export class MemoryVolume implements BlockSource, BlockSink {
  readonly bytes: Buffer;
  reads = 0;

  constructor(readonly sizeBytes: number) {
    this.bytes = Buffer.alloc(sizeBytes);
  }

  static of(bytes: Buffer): MemoryVolume {
    const volume = new MemoryVolume(bytes.length);
    bytes.copy(volume.bytes);
    return volume;
  }

  async read(offset: number, lengthBytes: number): Promise<Buffer> {
    this.reads += 1;
    return Buffer.from(Uint8Array.prototype.slice.call(this.bytes, offset, offset + lengthBytes).buffer);
  }

  async write(offset: number, bytes: Buffer): Promise<void> {
    bytes.copy(this.bytes, offset);
  }
}

export const facts = { volumeId: 'volume-1', volumeName: 'pg-data', snapshotName: 'nightly' };

export function createRepository(
  store: ObjectStore,
  more: { hasConditionalPut?: boolean; now?: () => Date } = {},
) {
  return Repository.create({
    store,
    unlock,
    projectId: 'project-1',
    now: () => new Date(),
    hasConditionalPut: true,
    blockBytes: BLOCK,
    packBytesMax: 8 * BLOCK,
    ...more,
  });
}

export const openRepository = (store: ObjectStore) =>
  Repository.open({ store, unlock, now: () => new Date() });

export async function restored(repository: Repository, backupId: string): Promise<Buffer> {
  const reader = await BackupReader.open(repository, backupId);
  const volume = new MemoryVolume(reader.sizeBytes);
  await reader.restoreTo(volume);
  return volume.bytes;
}
