/**
 * What an engine asks of a copy beside its data: the control channel between the two.
 *
 * Every command names the epoch it speaks at; the copy refuses any but the one it was last opened at. Every command
 * may be repeated. They travel as JSON, so nothing here may be larger than a few thousand numbers.
 */
import type { OpenReplicaReply } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { RebuildBytes, RebuildSnapshot } from '@holdfast/core/model/rebuild.js';

export type FrozenLayer = { id: string; name: string; origin: 'user' | 'system' };

/** Where a rebuild's target reads from. */
export type PullSource = {
  replicaId: string;
  controlUrl: string;
  nbdHost: string;
  nbdPort: number;
  secret: string;
};

export type PulledLayer = FrozenLayer & Pick<RebuildSnapshot, 'method' | 'reason'> & { heldBytes: number };

export type PullProgress = {
  state: 'copying' | 'verifying' | 'verified' | 'failed';
  bytes: RebuildBytes;
  snapshots: RebuildSnapshot[];
  /** Set when it failed. `sourceLost`: another source may take over where this one stopped. */
  error: { code: string; message: string; sourceLost: boolean } | null;
};

/** Hashes of the windows of a layer that hold anything, as pairs of window index and hash. */
export type WindowHashes = { hashes: [number, string][]; next: number | null };

export type ReplicaCommands = {
  /** `kept`: the process that held the copy during its last attachment still does, so no acknowledged write is lost. */
  open: { ask: { epoch: number }; reply: OpenReplicaReply & { kept: boolean } };
  record: { ask: { epoch: number; record: CopyRecord }; reply: null };
  snapshot: { ask: { epoch: number; layer: FrozenLayer }; reply: null };
  chain: { ask: { epoch: number }; reply: { layers: (FrozenLayer & { heldBytes: number })[] } };
  /** Merges a frozen layer into the system layer beneath it, step by step; `next` is null when that is done. */
  'merge-down': {
    ask: { epoch: number; layerId: string; firstWindow: number };
    reply: { next: number | null };
  };
  stat: { ask: { epoch: number }; reply: { writtenBytes: number } };
  /** Regions that may differ between copies, as pairs of first region and count. */
  intent: { ask: { epoch: number }; reply: { regionBytes: number; regions: [number, number][] } };
  /** All copies are equal and flushed: forget the regions. */
  settle: { ask: { epoch: number }; reply: null };
  'start-over': { ask: { epoch: number; rebuildId: string; layers: FrozenLayer[] }; reply: null };
  pull: { ask: { epoch: number; rebuildId: string; source: PullSource; layers: PulledLayer[] }; reply: null };
  progress: { ask: { epoch: number; rebuildId: string }; reply: PullProgress };
  'cancel-pull': { ask: { epoch: number; rebuildId: string }; reply: null };
  hashes: { ask: { epoch: number; layerId: string; firstWindow: number }; reply: WindowHashes };
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
