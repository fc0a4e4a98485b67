import type { VolumeDescription } from '@holdfast/core/model/copy-description.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { DiskId, NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';

/**
 * One replica directory. Its contents are the numbers of the writes it holds, which is all that matters for the
 * question whether an acknowledged write was lost.
 */
export type SimCopy = {
  readonly replicaId: ReplicaId;
  readonly volumeId: VolumeId;
  readonly nodeId: NodeId;
  readonly diskId: DiskId;
  /** As it was made. */
  readonly sizeBytes: number;
  readonly secret: string;
  /** Stored description of its volume. */
  volume?: VolumeDescription | undefined;
  record: CopyRecord | undefined;
  /** The highest epoch it has been opened at; lower ones are refused. */
  epoch: number;
  /** The grant of that epoch that it serves. */
  grantId?: string | undefined;
  /** True while a rebuild has begun to fill it and has not ended. */
  rebuilding: boolean;
  /** True once a comparison with most other copies has shown that it is damaged, until it is rebuilt. */
  isKnownDamaged: boolean;
  writes: Set<number>;
  /** Oldest first. Never changed in place, so that a rebuild may hand the list over. */
  layers: readonly SimLayer[];
};

/** Files of a copy as they are now, in a place of their own. */
export function clonedCopy(copy: SimCopy): SimCopy {
  return { ...copy, writes: new Set(copy.writes) };
}

/** A frozen layer, with what the copy held when it was frozen. */
export type SimLayer = {
  readonly id: string;
  readonly name: string;
  readonly origin: 'user' | 'system';
  readonly createdAt: string;
  readonly removed: boolean;
  /** As it was computed last; `undefined` before it was. */
  readonly checksum: string | undefined;
  /** A block of its file was changed behind the copy's back. */
  readonly isDamaged: boolean;
  readonly writes: ReadonlySet<number>;
};

/** Checksum of a layer's file as it is now. */
export function layerChecksum({ writes, isDamaged }: SimLayer): string {
  return `${hashOf([...writes])}${isDamaged ? ' damaged' : ''}`;
}

/** A number that no client writes: a block of the copy's files was changed behind its back. */
export const DAMAGE = -1;

/** Writes in a copy, whether or not a block of it is damaged: only a comparison of whole copies finds damage. */
export function writesOf({ writes }: Pick<SimCopy, 'writes'>): Set<number> {
  const known = new Set(writes);
  known.delete(DAMAGE);
  return known;
}

/** Writes in a copy, in a form that is equal for equal contents. */
export function checksumOf(copy: SimCopy): string {
  return hashOf([...copy.writes].sort((a, b) => a - b));
}

/** A few writes are listed; many are hashed by FNV-1a with two bases and their count, so that the length is that of a checksum. */
function hashOf(writes: readonly number[]): string {
  const text = writes.join();
  if (text.length <= 64) return text === '' ? 'none' : text;
  const hash = (base: number) =>
    writes.reduce((sum, write) => Math.imul(sum ^ write, 0x01000193) >>> 0, base).toString(16);
  return `${writes.length}-${hash(0x811c9dc5)}-${hash(0x1000193)}`;
}
