/**
 * Sizes in bytes, and the units that the data path counts in. All are integers of at most 2^53 − 1, so JavaScript
 * numbers hold them exactly.
 */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
export const TIB = 1024 * GIB;

/**
 * Sector: the unit that a disk writes as a whole or not at all. The unit of checksums in metadata, so that a torn update can be told
 * from damage.
 */
export const SECTOR_BYTES = 512;

/**
 * Block: a volume's size is a multiple of it, and layers track which blocks they hold. The page of the memory and of
 * nearly all file systems, so that a smaller one would save no space.
 */
export const BLOCK_BYTES = 4 * KIB;

/**
 * Cluster: the unit of space on a block disk, of the hashes that a rebuild compares, and of a copy's list of recent
 * changes. A first write of 4 KiB takes one, and a changed block costs the sending of one at most (Longhorn sends 2 MiB),
 * so it is small. Half as large would double the memory of an open copy on a block disk, which is 64 MiB for each TiB
 * that is written. Sixteen blocks, so that a 16-bit mask says which of them are meant.
 */
export const CLUSTER_BYTES = 64 * KIB;

/**
 * Range: the unit of the checksums that a block disk stores of a layer. 16 bytes for each are little enough to be
 * exchanged for whole layers, and a changed block costs the comparison of 1 MiB.
 */
export const RANGE_BYTES = 1024 * KIB;

/**
 * Window: the unit in which layers are hashed, sent and merged. Small enough to hold a few in memory, large enough that
 * a hash for each costs nothing.
 */
export const WINDOW_BYTES = 4 * MIB;

/**
 * Region: the unit of the write-intent map. Coarse: a stream of writes waits for the disk once per region, and a crash
 * costs a comparison of whole regions.
 */
export const REGION_BYTES = 16 * MIB;

/**
 * Part: how much of a layer one request hashes, merges or frees, and one source of a rebuild owns at a time. Well below
 * a second of work, so that no request takes long.
 */
export const PART_BYTES = 128 * MIB;

/** The largest size a volume may have: the largest multiple of a block that a number holds exactly. */
export const VOLUME_BYTES_MAX = Number.MAX_SAFE_INTEGER - (Number.MAX_SAFE_INTEGER % BLOCK_BYTES);

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size for users, in binary units with at most one decimal: `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = Number.isInteger(value) || unit === 0 ? value.toFixed(0) : value.toFixed(1);
  return `${bytes < 0 ? '-' : ''}${digits} ${UNITS[unit]}`;
}

/**
 * `percent` of `bytes`, rounded towards zero the way Longhorn does it: multiplied first, in doubles.
 * Source: docs/longhorn-rules.md, units.
 */
export function percentOf(bytes: number, percent: number): number {
  return Math.trunc((bytes * percent) / 100);
}
