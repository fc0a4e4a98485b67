/**
 * A lock in Longhorn's backupstore of the type for backups and restores: while it stands, Longhorn deletes no blocks of the volume. It is taken as
 * Longhorn takes it: written as not acquired, compared with the others after a rest, written again as acquired, and kept alive.
 */
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { z } from 'zod';
import type { ObjectStore } from '../store/object-store.js';
import { volumeFolder } from './backupstore.js';
import { notFound } from './longhorn-faults.js';

const RESTORE = 1;
const DELETION = 2;
/** A writer of an older lock has been seen by then. */
const SETTLE_MS = 2000;
const REFRESH_MS = 60_000;
/** By the target's clock, since the file was written. */
const EXPIRY_MS = 150_000;
const LOCK_BYTES_MAX = 4096;
const LOCKS_MAX = 1000;

const lockSchema = z.object({ Name: z.string(), Type: z.int(), Acquired: z.boolean() });

export type HeldLock = {
  /** False where the credentials may only read: a block may go while it is read, which is found and told. */
  readonly isHeld: boolean;
  release(): Promise<void>;
};

export type LockClock = { readonly sleep: (ms: number) => Promise<void>; readonly randomHex: () => string };

/** @throws StorageFault `backup.busy` while Longhorn deletes backups of the volume */
export async function lockVolume(
  store: ObjectStore,
  volumeName: string,
  clock: LockClock,
): Promise<HeldLock> {
  const folder = `${volumeFolder(volumeName)}locks/`;
  const name = `lock-${clock.randomHex()}`;
  const file = `${folder}${name}.lck`;
  const write = (isAcquired: boolean) =>
    store.put(file, Buffer.from(JSON.stringify({ Name: name, Type: RESTORE, Acquired: isAcquired })));
  try {
    await write(false);
  } catch (error) {
    if (isFault(error, 'backup.target_refused')) return { isHeld: false, release: async () => undefined };
    throw error;
  }
  try {
    await clock.sleep(SETTLE_MS);
    if (await comesBehindDeletion(store, folder, file)) throw busy(volumeName);
    await write(true);
  } catch (error) {
    await store.delete(file);
    throw error;
  }
  const refresh = setInterval(() => void write(true).catch(() => undefined), REFRESH_MS);
  // A lock keeps no process from ending: it expires.
  refresh.unref();
  return {
    isHeld: true,
    release: async () => {
      clearInterval(refresh);
      await store.delete(file);
    },
  };
}

type Lock = {
  readonly file: string;
  readonly modifiedMs: number;
  readonly type: number;
  readonly isAcquired: boolean;
};

async function comesBehindDeletion(store: ObjectStore, folder: string, own: string): Promise<boolean> {
  const locks: Lock[] = [];
  for await (const { name: file, modifiedAt } of store.list(folder)) {
    if (!file.endsWith('.lck') || locks.length >= LOCKS_MAX) continue;
    const bytes = await store.get(file, LOCK_BYTES_MAX);
    const parsed = bytes === undefined ? undefined : lockSchema.safeParse(jsonOf(bytes));
    if (parsed?.success !== true) continue;
    const { Type: type, Acquired: isAcquired } = parsed.data;
    locks.push({ file, modifiedMs: modifiedAt.getTime(), type, isAcquired });
  }
  const mine = locks.find(({ file }) => file === own);
  if (mine === undefined) throw notFound('the lock at the target is gone as soon as it was written');
  return locks.some(
    (lock) =>
      lock.type === DELETION && mine.modifiedMs - lock.modifiedMs < EXPIRY_MS && comesBefore(lock, mine),
  );
}

/** Acquired ones first, then the older, then by name. */
function comesBefore(one: Lock, other: Lock): boolean {
  if (one.isAcquired !== other.isAcquired) return one.isAcquired;
  if (one.modifiedMs !== other.modifiedMs) return one.modifiedMs < other.modifiedMs;
  return one.file < other.file;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

const busy = (volumeName: string) =>
  new StorageFault('backup.busy', {
    publicMessage: `Longhorn is deleting backups of volume ${volumeName}`,
    cures: ['try again when that has ended'],
  });
