/**
 * On-disk layout of a block disk, and the superblock that records it.
 *
 * | offset | content |
 * |---|---|
 * | 0 | superblock: the disk's id, size and format |
 * | 4 KiB | a block for probing direct I/O |
 * | 8 KiB | two blocks for the agent's note (`disk-note.ts`) |
 * | 64 KiB | two roots of 4 KiB for each copy's slot (`copy-root.ts`) |
 * | then | owners: for each cluster the copy that has it (`cluster-owners.ts`) |
 * | then | clusters: data, and metadata of copies |
 */
import { CLUSTER_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BLOCK_SEALED_BYTES, isSealed, seal } from '../sealed-block.js';
import { isUuid } from '../stored-values.js';
import { SLOT_SIDE_BYTES } from './sealed-pair.js';

/**
 * Version 4: the note is a sealed pair, and never blank. Version 3: no root is blank. The first process that opens a disk of an
 * earlier version adds what is missing (`recover.ts`).
 */
export const FORMAT_VERSION = 4;
export const FIRST_SEALED_NOTE = 4;
/** The first version whose roots are never blank. */
export const FIRST_FULL_ROOTS = 3;
const OLDEST_VERSION = 2;
const MAGIC = 'HOLDFAST-BLOCKS\n';
export const PROBE_OFFSET = BLOCK_SEALED_BYTES;
export const NOTE_OFFSETS = [2 * BLOCK_SEALED_BYTES, 3 * BLOCK_SEALED_BYTES] as const;
const ROOTS_OFFSET = CLUSTER_BYTES;
/** Maximum number of copies. An owner is 16 bits, and 1,024 copies are far more than a node serves. */
const SLOTS_MAX = 1024;
const SLOTS_MIN = 16;
const BYTES_PER_SLOT = 4 * MIB;
/** Minimum size: below it the clusters would not even hold a few empty copies. */
export const DISK_BYTES_MIN = 32 * MIB;
/** Cluster numbers have 32 bits, with some values to spare. */
const CLUSTERS_MAX = 2 ** 32 - 16;
/** Clusters reserved for metadata, so that a disk full of data can still record where it is: 1/64, at most 16 MiB. */
const RESERVE_MAX = 256;

export type Layout = {
  /** The version that the superblock names. */
  readonly format: number;
  readonly diskId: string;
  readonly sizeBytes: number;
  /** Number of copies that the disk can hold. */
  readonly slots: number;
  readonly ownersOffset: number;
  readonly clustersOffset: number;
  readonly clusterCount: number;
  /** Number of reserved clusters, the first ones of the disk; data never goes there. */
  readonly reserve: number;
};

export function layoutOf(diskId: string, sizeBytes: number, format = FORMAT_VERSION): Layout {
  const slots = Math.min(SLOTS_MAX, Math.max(SLOTS_MIN, Math.floor(sizeBytes / BYTES_PER_SLOT)));
  const ownersOffset = up(ROOTS_OFFSET + slots * 2 * SLOT_SIDE_BYTES);
  const most = Math.floor((sizeBytes - ownersOffset) / (CLUSTER_BYTES + 2));
  const clustersOffset = up(ownersOffset + most * 2);
  const clusterCount = Math.min(CLUSTERS_MAX, Math.floor((sizeBytes - clustersOffset) / CLUSTER_BYTES));
  const reserve = Math.min(RESERVE_MAX, Math.floor(clusterCount / 64));
  return { format, diskId, sizeBytes, slots, ownersOffset, clustersOffset, clusterCount, reserve };
}

export function rootOffset(slot: number, which: 0 | 1): number {
  return ROOTS_OFFSET + (slot * 2 + which) * SLOT_SIDE_BYTES;
}

export function clusterOffset({ clustersOffset }: Layout, cluster: number): number {
  return clustersOffset + cluster * CLUSTER_BYTES;
}

export function superblockOf({ diskId, sizeBytes }: Layout): Buffer {
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  block.write(MAGIC, 0, 'latin1');
  block.writeUInt32LE(FORMAT_VERSION, 16);
  block.writeUInt32LE(CLUSTER_BYTES, 20);
  block.writeBigUInt64LE(BigInt(sizeBytes), 24);
  block.write(diskId, 32, 'latin1');
  seal(block);
  return block;
}

/**
 * @returns `undefined` for a block that is no superblock
 * @throws StorageFault `replica.format_unknown` for a later format, `disk.wrong_identity` for a damaged superblock
 */
export function layoutIn(block: Buffer): Layout | undefined {
  if (block.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  if (!isSealed(block)) throw damagedDisk('its superblock has a wrong checksum');
  const format = block.readUInt32LE(16);
  if (format < OLDEST_VERSION || format > FORMAT_VERSION || block.readUInt32LE(20) !== CLUSTER_BYTES) {
    throw new StorageFault('replica.format_unknown', {
      publicMessage: `the block disk has format ${format}; this program knows ${FORMAT_VERSION}`,
      cures: ['run the version that wrote it'],
    });
  }
  const diskId = block.toString('latin1', 32, 68);
  if (!isUuid(diskId)) throw damagedDisk('its superblock names no disk');
  return layoutOf(diskId, Number(block.readBigUInt64LE(24)), format);
}

export function damagedDisk(what: string): StorageFault {
  return new StorageFault('disk.wrong_identity', { publicMessage: `the block disk is damaged: ${what}` });
}

function up(offset: number): number {
  return Math.ceil(offset / CLUSTER_BYTES) * CLUSTER_BYTES;
}
