/**
 * What an engine asks of a copy beside its data: the control channel between the two.
 *
 * Every command names the epoch it speaks at; the copy refuses any but the one it was last opened at. Every command
 * may be repeated. They travel as JSON, so nothing here may be larger than a few thousand numbers.
 */
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { RebuildBytes, RebuildSnapshot } from '@holdfast/core/model/rebuild.js';

/** Up to this layer some copies took part; then they were dropped (docs/adr/0090). */
export type DropMark = {
  replicaIds: string[];
  /** Where those copies may differ from this layer, as pairs of first region and count. */
  regions: [number, number][];
  regionBytes: number;
  /** A dropped copy that holds an older record than this is not the one that was dropped. */
  sinceEpoch: number;
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

export type ReplicaCommands = {
  /** `kept`: the process that held the copy during its last attachment still does, so no acknowledged write is lost. */
  /** `afresh`: the engine begins anew with this copy; whatever is still on its way on older connections is refused. */
  open: { ask: { epoch: number; afresh?: boolean | undefined }; reply: OpenReplicaReply & { kept: boolean } };
  record: { ask: { epoch: number; record: CopyRecord }; reply: null };
  /** `sizeBytes` is the size from now on: a volume grows by a snapshot with a larger head. */
  snapshot: { ask: { epoch: number; layer: SnapshotAsk; sizeBytes: number }; reply: null };
  /** Takes back a snapshot that not all copies have taken. Refused once anything was written since. */
  unfreeze: { ask: { epoch: number; layerId: string }; reply: null };
  /** `headId` names the new head, so that a repeated request throws nothing away. */
  revert: { ask: { epoch: number; layerId: string; headId: string }; reply: null };
  'mark-removed': { ask: { epoch: number; layerId: string }; reply: null };
  /** Takes a removed layer out, step by step; `next` is null when nothing is left to do for it now. */
  purge: { ask: { epoch: number; layerId: string; firstWindow: number }; reply: { next: number | null } };
  chain: { ask: { epoch: number }; reply: ChainFacts };
  stat: { ask: { epoch: number }; reply: { writtenBytes: number } };
  /** Regions that may differ between copies, as pairs of first region and count. */
  intent: { ask: { epoch: number }; reply: { regionBytes: number; regions: [number, number][] } };
  /** All copies are equal and flushed: forget the regions. */
  settle: { ask: { epoch: number }; reply: null };
  prepare: {
    ask: {
      epoch: number;
      rebuildId: string;
      layers: (FrozenLayer & { from: string | null })[];
      headParentId: string | null;
      sizeBytes: number;
    };
    reply: null;
  };
  pull: {
    ask: {
      epoch: number;
      rebuildId: string;
      sources: PullSource[];
      layers: PulledLayer[];
      blockHash: BlockHash;
      tuning: PullTuning;
    };
    reply: null;
  };
  'tune-pull': { ask: { epoch: number; rebuildId: string; tuning: PullTuning }; reply: null };
  progress: { ask: { epoch: number; rebuildId: string }; reply: PullProgress };
  'cancel-pull': { ask: { epoch: number; rebuildId: string }; reply: null };
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
};

export type HashProgress = {
  state: 'running' | 'done' | 'failed';
  checksum: string | null;
  /** The files are as they were when they were last hashed, and yet their contents are not: the disk lies. */
  silentlyCorrupted: boolean;
  message: string;
};

export type CommandName = keyof ReplicaCommands;
export type Ask<Name extends CommandName> = ReplicaCommands[Name]['ask'];
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
