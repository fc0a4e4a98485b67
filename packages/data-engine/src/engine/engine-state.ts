import type { RebuildOptions, ReplicaAddress, StartEngine } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { RebuildMethod } from '@holdfast/core/model/rebuild.js';
import type { Ports } from '../ports.js';
import type { ConnectControl } from '../replica/commands.js';

/** One attachment of one volume. */
export type EngineSpec = StartEngine & { volumeId: string };

export type RebuildSpec = {
  rebuildId: string;
  target: ReplicaAddress;
  sourceReplicaId: string | null;
  options?: RebuildOptions | undefined;
};

/** What is done where the control plane says nothing: as the seeds have it. */
export const DEFAULT_REBUILD_OPTIONS: RebuildOptions = {
  fastRebuild: true,
  blockHash: 'sha512',
  sourcesMax: 1,
  bandwidthBytesPerSecond: null,
};

export type PlannedLayer = {
  id: string;
  method: RebuildMethod;
  reason: string;
  /** The target's own layer that it starts from. */
  from: string | null;
  /** The only regions that are compared. */
  regions: readonly Regions[] | null;
};

export type Regions = { regionBytes: number; runs: readonly (readonly [number, number])[] };

/** How each frozen layer gets to a rebuild's target; the rule itself lives in core. */
export type PlanLayers = (
  source: readonly {
    id: string;
    name: string;
    parentId: string | null;
    createdAt: string;
    heldBytes: number;
    checksum: string | null;
    ranges: boolean;
    drop: {
      replicaIds: readonly string[];
      regions: Regions;
      sinceEpoch: number;
      sinceGeneration?: number | undefined;
    } | null;
  }[],
  target: {
    replicaId: string;
    recordEpoch: number | null;
    recordGeneration?: number | null | undefined;
    disk: 'filesystem' | 'block';
    layers: readonly {
      id: string;
      parentId: string | null;
      createdAt: string;
      heldBytes: number;
      checksum: string | null;
      ranges: boolean;
    }[];
    head: { id: string; parentId: string | null; heldBytes: number };
    intent: Regions;
  },
  options: { fastRebuild: boolean },
) => readonly PlannedLayer[];

/** Time and data connections are the system's where they are not given. */
export type EngineDependencies = Partial<Ports> & {
  connectControl: ConnectControl;
  /** Has the control plane record smaller members. Rejects with `engine.stale_epoch` when it must not. */
  confirmRecord: (record: CopyRecord) => Promise<void>;
  planLayers: PlanLayers;
  /** Something in the engine's report that is worth telling at once has changed. */
  onChange: () => void;
};
