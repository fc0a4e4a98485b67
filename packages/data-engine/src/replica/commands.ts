/**
 * What an engine asks of a copy beside its data: the control channel between the two.
 *
 * Every command names the epoch it speaks at, and the lease that its engine got from `open`; the copy refuses any but
 * the last ones, at the moment of the effect. Every command may be lost, late or delivered twice: those that change the
 * layers name the head that they are about and the one that they make (docs/adr/0130). They travel as JSON, so nothing
 * here may be larger than a few thousand numbers.
 */
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { RebuildBytes, RebuildSnapshot } from '@holdfast/core/model/rebuild.js';
import type { HeadChange, Opening } from './copy-fence.js';

/**
 * A moment in the life of one process of a copy: so many changes had ended. A region that was not changed since is still
 * as it was known to be then; one that was changed is not, whatever its engine believes.
 */
export type IntentMarker = { life: string; changes: number };

/** Up to this layer some copies took part; then they were dropped (docs/adr/0090). */
export type DropMark = {
  replicaIds: string[];
  /** Where those copies may differ from this layer, as pairs of first region and count. */
  regions: [number, number][];
  regionBytes: number;
  /** A dropped copy that holds an older record than this is not the one that was dropped. */
  sinceEpoch: number;
  /** Nor is one with a lower generation of that epoch. */
  sinceGeneration?: number | undefined;
};

/** A layer as all copies of a volume know it. */
export type FrozenLayer = {
  id: string;
  name: string;
  origin: 'user' | 'system';
  /** The layer it stands on; null for the lowest. */
  parentId: string | null;
  /** The volume's size while it took writes: volumes grow. */
  sizeBytes: number;
  /** When it was frozen, by the clock of whoever asked for it; RFC 3339. */
  createdAt: string;
  /** Nobody wants it any more; a purge takes it out. */
  removed: boolean;
  drop: DropMark | null;
};

/** What a layer's contents came to, and the state of its files when that was found. */
export type LayerChecksum = {
  algorithm: 'blake3';
  value: string;
  /** Bytes the layer held. */
  heldBytes: number;
  /** Change times of the layer's files: when they are others, the contents may be others too. */
  changeTime: string;
  hashedAt: string;
};

/** A frozen layer of one copy. */
export type LayerFacts = FrozenLayer & {
  heldBytes: number;
  /** Null when it was never hashed, or when its files have changed since. */
  checksum: string | null;
  /** True when there are checksums of its ranges that belong to it. */
  ranges: boolean;
};

/** Where a rebuild's target reads from. */
export type PullSource = {
  replicaId: string;
  controlUrl: string;
  nbdHost: string;
  nbdPort: number;
  secret: string;
};

/** Bytes from `start` up to, not including, `end`. */
export type ByteRange = [start: number, end: number];

export type PulledLayer = Pick<FrozenLayer, 'id' | 'name'> &
  Pick<RebuildSnapshot, 'method' | 'reason'> & {
    /** What the source holds of it. */
    heldBytes: number;
    /** The only parts that are compared, in order; null for all. */
    ranges: ByteRange[] | null;
  };

export const BLOCK_HASHES = ['sha512', 'blake3'] as const;
/** By which blocks of 64 KiB are compared. */
export type BlockHash = (typeof BLOCK_HASHES)[number];

export type PullTuning = {
  /** Null for none. */
  bandwidthBytesPerSecond: number | null;
  paused: boolean;
  /** Users are at work on the volume: the rebuild does one thing at a time and rests as long as each took. */
  yields?: boolean;
};

export type PullProgress = {
  state: 'copying' | 'verifying' | 'verified' | 'failed';
  bytes: RebuildBytes;
  snapshots: RebuildSnapshot[];
  /** Set when it failed. `sourceLost`: another source may take over where this one stopped. */
  error: { code: string; message: string; sourceLost: boolean } | null;
};

/**
 * Hashes of the windows of a layer that hold anything, as pairs of window index and hash. `next` is the first such window
 * behind them, asked for or not.
 */
export type WindowHashes = { hashes: [number, string][]; next: number | null };

/**
 * What a layer holds in each block of 64 KiB of some windows: which of its 16 blocks of 4 KiB, and a hash over that and
 * their data. All as base64: 64 little-endian 16-bit masks, then as many hashes, zeros where nothing is held.
 */
export type BlockHashes = { windows: [window: number, masks: string, hashes: string][]; next: number | null };

/** The head that the copy has now; null from copies that do not say. */
export type HeadReply = { headId: string } | null;

export type ReplicaCommands = {
  /**
   * `afresh`: the engine begins anew with this copy; whatever is still on its way from before is refused.
   * `kept`: the process that held the copy during its last attachment still does, so no acknowledged write is lost.
   * `life` names the process: while it is the same, the copy has lost nothing since it was opened.
   */
  open: {
    ask: { epoch: number } & Opening;
    reply: OpenReplicaReply & {
      kept: boolean;
      life?: string;
      lease?: number | undefined;
      headId?: string | undefined;
    };
  };
  record: { ask: { epoch: number; record: CopyRecord }; reply: null };
  /** `sizeBytes` is the size from now on: a volume grows by a snapshot with a larger head. */
  snapshot: { ask: { epoch: number; layer: SnapshotAsk; sizeBytes: number } & HeadChange; reply: HeadReply };
  /** Takes back a snapshot that not all copies have taken. Refused once anything was written since. */
  unfreeze: { ask: { epoch: number; layerId: string } & HeadChange; reply: HeadReply };
  /** `revertId` is the request that it is done for: the copy remembers the last one. */
  revert: {
    ask: { epoch: number; layerId: string; headId: string; revertId?: string | undefined } & HeadChange;
    reply: HeadReply;
  };
  'mark-removed': { ask: { epoch: number; layerId: string }; reply: null };
  /** Takes a removed layer out, step by step; `next` is null when nothing is left to do for it now. */
  purge: { ask: { epoch: number; layerId: string; firstWindow: number }; reply: { next: number | null } };
  chain: { ask: { epoch: number }; reply: ChainFacts };
  stat: { ask: { epoch: number }; reply: { writtenBytes: number } };
  /** Regions that may differ between copies, as pairs of first region and count. */
  intent: {
    ask: { epoch: number };
    reply: { regionBytes: number; regions: [number, number][]; marker: IntentMarker };
  };
  /**
   * What of the copy others may not have durably: from the given place of the list on, six bytes for each stretch of 64 KiB
   * (its number, and a bit for each of its blocks, little-endian) as base64. Null when it is too much to say.
   */
  unflushed: {
    ask: { epoch: number; from: number };
    reply: { stretches: string | null; next: number | null };
  };
  /**
   * All copies are equal in these regions: forget them, but for those that were changed since the marker of an earlier
   * `intent`. So it may come late, or twice. Without a marker all regions are forgotten.
   */
  settle: {
    ask: { epoch: number; marker?: IntentMarker | undefined; regions?: [number, number][] | undefined };
    reply: null;
  };
  prepare: {
    ask: {
      epoch: number;
      rebuildId: string;
      layers: (FrozenLayer & { from: string | null })[];
      headParentId: string | null;
      sizeBytes: number;
      /** The source's. */
      lastRevertId?: string | null | undefined;
    } & HeadChange;
    reply: HeadReply;
  };
  pull: {
    ask: {
      epoch: number;
      rebuildId: string;
      sources: PullSource[];
      layers: PulledLayer[];
      blockHash: BlockHash;
      tuning: PullTuning;
      /** Counts the sources that were tried: a late one must not take the place of a later one. */
      attempt?: number | undefined;
    };
    reply: null;
  };
  'tune-pull': { ask: { epoch: number; rebuildId: string; tuning: PullTuning }; reply: null };
  progress: { ask: { epoch: number; rebuildId: string }; reply: PullProgress };
  /** Ends that attempt and those before it; all of them where none is named. */
  'cancel-pull': {
    ask: { epoch: number; rebuildId: string; attempt?: number | undefined };
    reply: null;
  };
  hashes: {
    ask: { epoch: number; layerId: string; firstWindow: number; endWindow: number };
    reply: WindowHashes;
  };
  'block-hashes': {
    ask: { epoch: number; layerId: string; blockHash: BlockHash; firstWindow: number; endWindow: number };
    reply: BlockHashes;
  };
  /** Stored checksums of ranges of 1 MiB, 16 bytes each, as base64; null when there are none that count. */
  'range-sums': {
    ask: { epoch: number; layerId: string; first: number; count: number };
    reply: { sums: string | null };
  };
  /** Hashes a frozen layer in the background; asked again it says how far that is. `force`: also when nothing changed. */
  'hash-layer': { ask: { epoch: number; layerId: string; force: boolean }; reply: HashProgress };
};

export type SnapshotAsk = Pick<FrozenLayer, 'id' | 'name' | 'origin' | 'createdAt' | 'drop'>;

export type ChainFacts = {
  /** Frozen layers, parents before their children; also those on branches. */
  layers: LayerFacts[];
  head: { id: string; parentId: string | null; heldBytes: number };
  sizeBytes: number;
  /** What kind of disk it is on. */
  disk: 'filesystem' | 'block';
  /** Null for a copy that is no member, as one that a rebuild has not finished. */
  recordEpoch: number | null;
  recordGeneration?: number | null | undefined;
  /** The request that the device was last reverted for. */
  lastRevertId?: string | null | undefined;
};

export type HashProgress = {
  state: 'running' | 'done' | 'failed';
  checksum: string | null;
  /** The files are as they were when they were last hashed, and yet their contents are not: the disk lies. */
  silentlyCorrupted: boolean;
  message: string;
};

export type CommandName = keyof ReplicaCommands;
/** `lease`: as `open` told it. Absent from a rebuild's target, which reads from copies that it has not opened itself. */
export type Ask<Name extends CommandName> = ReplicaCommands[Name]['ask'] & { lease?: number | undefined };
export type Answer<Name extends CommandName> = ReplicaCommands[Name]['reply'];

/** The control channel to one copy. Rejects with a StorageFault, `agent.unreachable` when there is no answer. */
export interface ReplicaControl {
  command<Name extends CommandName>(name: Name, ask: Ask<Name>): Promise<Answer<Name>>;
}

/** Makes the channel to a copy elsewhere. */
export type ConnectControl = (address: {
  replicaId: string;
  controlUrl: string;
  secret: string;
}) => ReplicaControl;
