import type { RebuildOptions, ReplicaAddress, StartEngine } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { RebuildMethod } from '@holdfast/core/model/rebuild.js';
import type { Ports } from '../nbd/ports.js';
import type { ConnectControl } from '../protocol/commands.js';

/** One attachment of one volume. */
export type EngineSpec = StartEngine & { volumeId: VolumeId };

export type RebuildSpec = {
  rebuildId: string;
  target: ReplicaAddress;
  sourceReplicaIds: readonly string[];
  options?: RebuildOptions | undefined;
};

/** Rebuild options where the control plane names none; the same as the seeded cluster settings. */
export const DEFAULT_REBUILD_OPTIONS: RebuildOptions = {
  purgesFirst: true,
  fastRebuild: true,
  blockHash: 'sha512',
  sourcesMax: 1,
  bandwidthBytesPerSecond: null,
};

export type PlannedLayer = {
  id: string;
  method: RebuildMethod;
  reason: string;
  /** The target's own layer that the comparison starts from. */
  from: string | null;
  /** Limits the comparison to these regions. `null`: all of them. */
  regions: readonly Regions[] | null;
};

export type Regions = { regionBytes: number; runs: readonly (readonly [number, number])[] };

/** Chooses a sync method for each frozen layer of a rebuild; the rule itself lives in core. */
export type LayerPlanner = (
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

/** Dependencies of an engine. Time and data connections default to the system's. */
export type EngineDependencies = Partial<Ports> & {
  connectControl: ConnectControl;
  /**
   * Has the control plane record a smaller set of members. Rejects with `engine.stale_epoch` when a newer engine
   * exists.
   */
  confirmRecord: (record: CopyRecord) => Promise<void>;
  planLayers: LayerPlanner;
  /** Makes of the engine's secret for a copy one with which another node may read it, for a rebuild. */
  readerSecretOf?: (secret: string, readerNodeId: string) => string;
  /** Called when the engine's report changed in a way that should be sent at once. */
  onChange: () => void;
};
