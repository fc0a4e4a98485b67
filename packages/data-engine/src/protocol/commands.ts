/**
 * Control protocol between an engine and a copy: everything that an engine asks of a copy beside its data.
 *
 * Every command names its epoch, and the lease that its engine got from `open`; the copy refuses older ones at the
 * moment of the effect. Every command may be lost, late or duplicated: those that change layers name the head they
 * expect and the one they make (docs/adr/0130-commands-name-their-state.md). Commands travel as JSON, so no field may hold more than a few
 * thousand numbers.
 */
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ChainFacts, FrozenLayer, SnapshotAsk } from './layers.js';
import type {
  BlockHash,
  BlockHashes,
  ProgressWait,
  PulledLayer,
  PullProgress,
  PullSource,
  PullTuning,
  WindowHashes,
} from './pull.js';
import type { HeadChange, Opening } from './term.js';

/**
 * A point in the life of one replica process, as the number of changes that had ended. A region that was not changed
 * since is still in the state that was known then; a region that was changed is not, whatever its engine believes.
 */
export type IntentMarker = { life: string; changes: number };

/** The copy's head after the command; null from copies that do not report it. */
export type HeadReply = { headId: string } | null;

export type ReplicaCommands = {
  /**
   * Opens (fences) the copy. `afresh`: the engine starts over with this copy, and earlier requests that are still on
   * their way are refused. `kept`: the same process has held the copy since its last attachment, so no acknowledged
   * write is lost. `life` identifies that process: while it is the same, the copy has lost nothing since it was
   * opened.
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
  /** Freezes the head. `sizeBytes` is the size from now on: a volume grows by a snapshot with a larger head. */
  snapshot: { ask: { epoch: number; layer: SnapshotAsk; sizeBytes: number } & HeadChange; reply: HeadReply };
  /** Rolls back a snapshot that only some copies have taken. Refused if anything was written since. */
  unfreeze: { ask: { epoch: number; layerId: string } & HeadChange; reply: HeadReply };
  /** Reverts to a layer. `revertId` is the request's idempotency key: the copy remembers the last one. */
  revert: {
    ask: { epoch: number; layerId: string; headId: string; revertId?: string | undefined } & HeadChange;
    reply: HeadReply;
  };
  'mark-removed': { ask: { epoch: number; layerId: string }; reply: null };
  /** Removes a deleted layer, step by step; `next` is null when nothing is left to do for now. */
  purge: { ask: { epoch: number; layerId: string; firstWindow: number }; reply: { next: number | null } };
  chain: { ask: { epoch: number }; reply: ChainFacts };
  stat: { ask: { epoch: number }; reply: { writtenBytes: number } };
  /** The copy's write-intent map: regions that may differ between copies, as pairs of first region and count. */
  intent: {
    ask: { epoch: number };
    reply: { regionBytes: number; regions: [number, number][]; marker: IntentMarker };
  };
  /**
   * Recent changes that other copies may not have durably, from the given position in the list on: six bytes for each
   * stretch of 64 KiB (its number, and a bit for each of its blocks, little-endian) as base64. Null if there are too
   * many to list.
   */
  unflushed: {
    ask: { epoch: number; from: number };
    reply: { stretches: string | null; next: number | null };
  };
  /**
   * Clears write-intent marks: all copies are equal in these regions. Without regions it only says that the copy has every
   * acknowledged write. Marks of regions that were changed since the
   * marker of an earlier `intent` stay, so the command may come late, or twice. Without a marker all marks are
   * cleared.
   */
  'clear-intent': {
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
      /** The source's last revert. */
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
      /** Number of the attempt, one per source: a late command must not replace a later attempt. */
      attempt?: number | undefined;
    };
    reply: null;
  };
  'tune-pull': { ask: { epoch: number; rebuildId: string; tuning: PullTuning }; reply: null };
  /** `wait`: answers once the pull is in another state, or after so long. Older copies answer at once. */
  progress: {
    ask: { epoch: number; rebuildId: string; wait?: ProgressWait | undefined };
    reply: PullProgress;
  };
  /** Cancels that attempt and earlier ones; without a number, all of them. */
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
  /** Stored checksums of ranges of 1 MiB, 16 bytes each, as base64; null if no valid ones exist. */
  'range-sums': {
    ask: { epoch: number; layerId: string; first: number; count: number };
    reply: { sums: string | null };
  };
  /**
   * Hashes a frozen layer in the background; a repeated command reports progress. `force`: hashes again even if
   * nothing changed.
   */
  'hash-layer': { ask: { epoch: number; layerId: string; force: boolean }; reply: HashProgress };
};

export type HashProgress = {
  state: 'running' | 'done' | 'failed';
  checksum: string | null;
  /** True if the content changed although the files did not since the last hash: silent corruption by the disk. */
  silentlyCorrupted: boolean;
  /** The checksum that was recorded before; null where there was none. Absent in answers of older versions. */
  recorded?: string | null | undefined;
  message: string;
};

export type CommandName = keyof ReplicaCommands;
/**
 * A command's parameters. `lease` is the one from `open`; absent from a rebuild's target, which has not opened the
 * copies that it reads from.
 */
export type Ask<Name extends CommandName> = ReplicaCommands[Name]['ask'] & { lease?: number | undefined };
export type Answer<Name extends CommandName> = ReplicaCommands[Name]['reply'];

/** Properties of a command that concern the processes that carry it. */
export type CommandTraits = {
  /** How long the caller waits. `long`: it may read or write a whole layer, and no user request waits for it. */
  readonly patience: 'short' | 'long';
  /** `long`: the reply grows with the volume, so it may need pages. */
  readonly replyLength: 'bounded' | 'long';
};

const QUICK = { patience: 'short', replyLength: 'bounded' } as const;
const SLOW = { patience: 'long', replyLength: 'bounded' } as const;
const LONG_REPLY = { patience: 'short', replyLength: 'long' } as const;

export const COMMAND_TRAITS: { readonly [Name in CommandName]: CommandTraits } = {
  open: QUICK,
  record: QUICK,
  snapshot: QUICK,
  unfreeze: QUICK,
  revert: QUICK,
  'mark-removed': QUICK,
  purge: SLOW,
  chain: LONG_REPLY,
  stat: QUICK,
  intent: LONG_REPLY,
  unflushed: QUICK,
  'clear-intent': QUICK,
  prepare: SLOW,
  pull: QUICK,
  'tune-pull': QUICK,
  progress: LONG_REPLY,
  'cancel-pull': SLOW,
  hashes: SLOW,
  'block-hashes': SLOW,
  'range-sums': QUICK,
  'hash-layer': QUICK,
};

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_TRAITS, name);
}

/** Control channel to one copy. Rejects with a StorageFault, `agent.unreachable` when there is no answer. */
export interface ReplicaControl {
  command<Name extends CommandName>(name: Name, ask: Ask<Name>): Promise<Answer<Name>>;
}

/** Opens the control channel to a copy on another node. */
export type ConnectControl = (address: {
  replicaId: string;
  /** The node that holds it: the peer must prove to be that node. */
  nodeId: string;
  controlUrl: string;
  secret: string;
}) => ReplicaControl;
