/** Sizes in bytes. All are integers of at most 2^53 − 1, so JavaScript numbers hold them exactly. */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
export const TIB = 1024 * GIB;

/** The unit of allocation: a volume's size is a multiple of it, and layers track which blocks they hold. */
export const BLOCK_BYTES = 4 * KIB;

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
