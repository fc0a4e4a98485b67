/** A disk of this node, as the agent knows it: a folder (`folder-disk.ts`) or a block disk (`block-disk.ts`). */
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskStore } from '@holdfast/data-engine/replica/disk-store.js';

/** A disk as it is configured. `sizeBytes`: what a folder may hold at most; how large a new block disk is made. */
export type DiskEntry = { type: 'filesystem' | 'block'; path: string; sizeBytes: number };

export type DiskProblem = Pick<DiskReport, 'reason' | 'message'>;

export interface Disk {
  readonly diskId: string;
  readonly name: string;
  readonly path: string;
  /** What keeps the disk from being used now; `undefined` for nothing. */
  problem(): Promise<DiskProblem | undefined>;
  /** True when the disk is not there, or another one is. */
  isAbsent(): Promise<boolean>;
  /** @throws StorageFault `disk.not_ready`: asked before anything new is made on the disk */
  requireUsable(): Promise<void>;
  /** Its copies. @throws StorageFault `disk.not_ready` */
  store(): Promise<DiskStore>;
  /** Clears away what was half-made when the agent last stopped: only for when nothing is being made. */
  replicaIds(): Promise<string[]>;
  report(nowMs: number): Promise<DiskReport>;
}

/** Below this a disk is called full: a copy's metadata and maps need some room to be replaced. */
const FULL_BYTES = 16 * MIB;

/** Adding up what all copies take is done no more often than this. */
export const USED_PAUSE_MS = 3_000;

export function fullness(availableBytes: number): DiskProblem {
  if (availableBytes >= FULL_BYTES) return { reason: '', message: '' };
  return { reason: 'DiskFull', message: `only ${availableBytes} bytes are free` };
}

type UnreadableReport = Pick<DiskReport, 'fileSystem' | 'availableBytes' | 'ready' | 'reason' | 'message'>;

/** What is reported of a disk that has a problem, or that could not be looked at. */
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
