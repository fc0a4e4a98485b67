/** A disk of this node, as the agent handles it: a folder (`folder-disk.ts`) or a block disk (`block-disk.ts`). */
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import type { DiskStore } from '@holdfast/data-engine/disk/disk-store.js';
import type { StoredStamp } from './stored-stamp.js';

/** A configured disk. `sizeBytes`: the most that a folder's copies may take, or the size of a block disk to be made. */
export type DiskEntry = { type: 'filesystem' | 'block'; path: string; sizeBytes: number };

export type DiskProblem = Pick<DiskReport, 'reason' | 'message'>;

export interface Disk {
  readonly diskId: DiskId;
  readonly name: string;
  readonly path: string;
  /** The reason why the disk can't be used now; `undefined` for a usable disk. */
  problem(): Promise<DiskProblem | undefined>;
  /** True when the disk is not there, or another disk is found in its place. */
  isAbsent(): Promise<boolean>;
  /**
   * Check before anything new is made on the disk.
   *
   * @throws StorageFault `disk.not_ready`
   */
  requireUsable(): Promise<void>;
  /** The store of the disk's copies. @throws StorageFault `disk.not_ready` */
  store(): Promise<DiskStore>;
  /**
   * Ids of the disk's copies. Removes what an interrupted create or remove left behind, so it must not run beside one.
   */
  replicaIds(): Promise<string[]>;
  report(nowMs: number): Promise<DiskReport>;
  /** The stamp on the disk; `undefined`: none has been stored. */
  readStamp(): Promise<StoredStamp | undefined>;
  /** Stores the stamp durably, or leaves the one before. */
  writeStamp(stamp: StoredStamp): Promise<void>;
  /** Properties that a copied disk does not share with this one; `undefined` if none of that kind is known. */
  fileId(): Promise<string | undefined>;
  /** Releases the disk, which no longer belongs to the node. */
  release(): Promise<void>;
}

/** Free bytes below which a disk counts as full: replacing a copy's metadata and maps needs some room. */
const FULL_BYTES = 16 * MIB;

/** Least time between two sums of the bytes that a disk's copies take. */
export const USED_PAUSE_MS = 3_000;

export function fullness(availableBytes: number): DiskProblem {
  if (availableBytes >= FULL_BYTES) return { reason: '', message: '' };
  return { reason: 'DiskFull', message: `only ${availableBytes} bytes are free` };
}

type UnreadableReport = Pick<DiskReport, 'fileSystem' | 'availableBytes' | 'ready' | 'reason' | 'message'>;

/** The report's fields for a disk that has a problem, or that could not be inspected. */
export function unreadable(why: unknown): UnreadableReport {
  const unknown = { fileSystem: '', availableBytes: 0, ready: false };
  if (isProblem(why)) return { ...unknown, reason: why.reason, message: why.message };
  const message = why instanceof Error ? why.message.slice(0, 1024) : 'unknown';
  return { ...unknown, reason: 'DiskUnreadable', message };
}

export async function requireUsable(disk: Pick<Disk, 'problem'>): Promise<void> {
  const problem = await disk.problem();
  if (problem === undefined) return;
  throw new StorageFault('disk.not_ready', { publicMessage: problem.message });
}

function isProblem(why: unknown): why is DiskProblem {
  return typeof why === 'object' && why !== null && 'reason' in why && 'message' in why;
}
