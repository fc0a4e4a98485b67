/** A pull, as engine and target exchange it: what is pulled from where, how fast, and its progress. */
import type { RebuildBytes, RebuildSnapshot } from '@holdfast/core/model/rebuild.js';
import type { FrozenLayer } from './layers.js';

/** Source of a rebuild: the address its target reads from. */
export type PullSource = {
  replicaId: string;
  nodeId: string;
  controlUrl: string;
  nbdHost: string;
  nbdPort: number;
  secret: string;
};

/** A range of bytes from `start` up to, not including, `end`. */
export type ByteRange = [start: number, end: number];

export type PulledLayer = Pick<FrozenLayer, 'id' | 'name'> &
  Pick<RebuildSnapshot, 'method' | 'reason'> & {
    /** Bytes that the source holds of the layer. */
    heldBytes: number;
    /** Limits the comparison to these ranges, in order; null for all. */
    ranges: ByteRange[] | null;
  };

export const BLOCK_HASHES = ['sha512', 'blake3'] as const;
/** Hash function for comparing clusters of 64 KiB. */
export type BlockHash = (typeof BLOCK_HASHES)[number];

export type PullTuning = {
  /** Bandwidth limit in bytes per second; null for none. */
  bandwidthBytesPerSecond: number | null;
  paused: boolean;
  /**
   * True while users are at work on the volume: the rebuild then copies one window at a time, and rests as long as
   * each took.
   */
  yields?: boolean | undefined;
};

export const PULL_STATES = ['copying', 'verifying', 'verified', 'failed'] as const;

export type PullProgress = {
  state: (typeof PULL_STATES)[number];
  bytes: RebuildBytes;
  snapshots: RebuildSnapshot[];
  /** Grows with each layer that is brought, made durable, verified or noted: layers without data move no bytes. Older targets do not say it. */
  steps?: number | undefined;
  /** Set when the pull failed. `sourceLost`: the pull can go on from another source at the same point. */
  error: { code: string; message: string; sourceLost: boolean } | null;
};

/** Condition for which an engine that knows a pull's state waits: another state, or a timeout. */
export type ProgressWait = { state: PullProgress['state']; atMostMs: number };

/** Longest such wait, in milliseconds: as often a rebuild's progress is reported. */
export const PROGRESS_WAIT_MS = 500;

/**
 * Hashes of a layer's non-empty windows, as pairs of window index and hash. `next` is the first non-empty window
 * after them, whether it was requested or not.
 */
export type WindowHashes = { hashes: [number, string][]; next: number | null };

/**
 * Hashes of the clusters of 64 KiB in some windows: for each, which of its 16 blocks of 4 KiB the layer holds, and a
 * hash over that and their data. In base64: 64 little-endian 16-bit masks, then as many hashes, with zeros for blocks
 * that are not held.
 */
export type BlockHashes = { windows: [window: number, masks: string, hashes: string][]; next: number | null };
