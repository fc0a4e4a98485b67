/**
 * Numbers and records of the repository format, version 1. docs/design/backup-format.md describes it for other programs; a change here is a
 * change there, and needs a new version once a release has written repositories.
 */

export const FORMAT_NAME = 'holdfast-backup';
export const FORMAT_VERSION = 1;

/**
 * Size of a block: what is hashed, compressed, sealed and deduplicated as one. 1 MiB is the range whose changes block disks keep checksums
 * of. Smaller blocks would upload less of scattered changes, but an index entry takes 46 bytes: at 64 KiB the index of 16 TiB is 12 GiB.
 */
export const BLOCK_BYTES = 1024 * 1024;
/** What a repository may choose instead, when it is created: small ones for small volumes. */
export const BLOCK_BYTES_MIN = 4 * 1024;
export const BLOCK_BYTES_MAX = 4 * 1024 * 1024;

/** Size that a pack is closed before. 64 MiB make 40 objects of 2.5 GiB, and two of them fit in memory: one is filled, one is uploaded. */
export const PACK_BYTES_MAX = 64 * 1024 * 1024;
export const PACK_BYTES_MIN = 16 * 1024 * 1024;

/** Blocks that one segment of a map describes: 32 KiB of ids, so that an incremental backup writes few of them anew. */
export const SEGMENT_BLOCKS = 1024;

/** Largest volume: its manifest, one id for each segment, then takes 4 MiB. */
export const VOLUME_BYTES_MAX = 64 * 1024 ** 4;

/** Bounds of objects that are read into memory at once. An object that claims to be larger is refused before it is read. */
export const CONFIGURATION_BYTES_MAX = 64 * 1024;
export const RECORD_BYTES_MAX = 8 * 1024 * 1024;
export const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
export const CHECKPOINT_BYTES_MAX = 64 * 1024 * 1024;
export const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** Entries of one index object: 46 bytes each, so that it stays below its bound. */
export const INDEX_ENTRIES_MAX = 1_000_000;
/** Blobs that a process keeps locations of: 1 GiB of memory, and 16 TiB of different blocks. A repository with more needs another format. */
export const BLOBS_MAX = 16 * 1024 * 1024;

/** Bytes of a content id, HMAC-SHA-256. */
export const ID_BYTES = 32;

/** How a blob's content is stored. Numbers are part of the format. */
export const CODEC = { none: 0, zstd: 1 } as const;
export type Codec = (typeof CODEC)[keyof typeof CODEC];

/** What a blob is: a block of a volume, or a segment of a backup's map. Ids of both are made by different keys. */
export const BLOB_KIND = { block: 0, segment: 1 } as const;
export type BlobKind = (typeof BLOB_KIND)[keyof typeof BLOB_KIND];

/** Where a blob lies. */
export type BlobLocation = {
  /** Name of the pack: `<run>/p<number>`. */
  readonly pack: string;
  readonly offset: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
  readonly codec: Codec;
  readonly kind: BlobKind;
};

export type IndexEntry = BlobLocation & { readonly id: Uint8Array };

/** An object that a record of the journal names, with what it must contain: an exchanged or older one does not pass. */
export type ObjectReference = {
  readonly name: string;
  /** SHA-256 of the stored bytes, in hex. */
  readonly digest: string;
  readonly sizeBytes: number;
};

/** What is known of a backup without reading it. */
export type BackupSummary = {
  readonly id: string;
  readonly volumeId: string;
  readonly volumeName: string;
  readonly snapshotName: string;
  readonly sizeBytes: number;
  readonly createdAt: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes of blocks that are not holes. */
  readonly dataBytes: number;
  /** Bytes that this backup added to the target, compressed. */
  readonly addedBytes: number;
  /** Until when it can't be deleted; left out: it can. */
  readonly lockedUntil?: string;
};

export type Manifest = {
  readonly format: typeof FORMAT_NAME;
  readonly version: number;
  readonly repositoryId: string;
  readonly backup: BackupSummary;
  readonly blockBytes: number;
  /** Ids of the map's segments in order, in hex. 64 zeros stand for a segment of holes only, which is not stored. */
  readonly segments: readonly string[];
};

/** One change of the repository, as the journal records it. */
export type ChangeBody =
  | { readonly kind: 'repository-created' }
  /** Blobs of a run that goes on: a run that is resumed finds them. */
  | { readonly kind: 'index-added'; readonly run: string; readonly indexes: readonly ObjectReference[] }
  | {
      readonly kind: 'backup-added';
      readonly run: string;
      readonly backup: BackupSummary;
      readonly manifest: ObjectReference;
      readonly indexes: readonly ObjectReference[];
      /** Condemned packs that this backup refers to: they stay. */
      readonly rescued: readonly string[];
    }
  | { readonly kind: 'backup-deleted'; readonly backupId: string }
  /** First phase of a deletion: no further backup uses these packs, and what of them is in use has been copied to the packs of `indexes`. */
  | {
      readonly kind: 'packs-condemned';
      readonly run: string;
      readonly packs: readonly string[];
      readonly indexes: readonly ObjectReference[];
    }
  /** Second phase: they are in no index any more, and their objects may be deleted from now on. */
  | {
      readonly kind: 'packs-dead';
      readonly run: string;
      readonly packs: readonly string[];
      readonly indexes: readonly ObjectReference[];
      readonly replacedIndexes: readonly string[];
    }
  /** Objects whose deletion was confirmed. */
  | { readonly kind: 'objects-gone'; readonly objects: readonly string[] }
  /** Runs that never recorded their packs, which may be deleted from now on. If one of them still lives, its commit is refused. */
  | { readonly kind: 'runs-abandoned'; readonly runs: readonly string[] }
  /** Indexes made anew by a repair. */
  | {
      readonly kind: 'indexes-replaced';
      readonly run: string;
      readonly indexes: readonly ObjectReference[];
      readonly replacedIndexes: readonly string[];
    };

export type JournalRecord = {
  readonly sequence: number;
  /** SHA-256 of the stored bytes of the record before, in hex; empty for the first one. */
  readonly previous: string;
  readonly at: string;
  /** Random, so that a writer whose answer was lost knows its own record. */
  readonly nonce: string;
  readonly body: ChangeBody;
};

/** What a caller remembers elsewhere, to find out that a target was set back to an older state. */
export type TrustedHead = { readonly sequence: number; readonly digest: string };
