/** Bounds of what is read of a stranger's target or folder: nothing of it is trusted before it was checked. */

/** Name of a volume or a backup, as Longhorn checks it. */
export const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,250}$/;
export const VOLUME_FILE_BYTES_MAX = 1024 * 1024;
/** A backup's file: 105 bytes for each block, of which 16 TiB in blocks of 2 MiB have 8 million. */
export const BACKUP_FILE_BYTES_MAX = 1024 ** 3;
/** Read at once of it. */
export const READ_BYTES = 4 * 1024 * 1024;
/** A member of it that is no list of blocks: labels, of which Kubernetes' status is one. */
export const MEMBER_BYTES_MAX = 4 * 1024 * 1024;
export const BLOCKS_MAX = 8 * 1024 * 1024;
/** Volumes of one target, and backups of one volume. */
export const LISTED_MAX = 100_000;
export const VOLUME_BYTES_MAX = 64 * 1024 ** 4;
/** Block sizes that Longhorn offers. */
export const BLOCK_BYTES: readonly number[] = [2 * 1024 ** 2, 16 * 1024 ** 2];
/** Layers of a replica: Longhorn refuses more. */
export const LAYERS_MAX = 254;
export const META_BYTES_MAX = 1024 * 1024;
