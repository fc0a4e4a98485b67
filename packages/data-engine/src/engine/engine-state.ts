import type { ReplicaAddress, StartEngine } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { RebuildMethod } from '@holdfast/core/model/rebuild.js';
import type { ConnectControl } from '../replica/commands.js';

/** One attachment of one volume. */
export type EngineSpec = StartEngine & { volumeId: string };

export type RebuildSpec = {
  rebuildId: string;
  target: ReplicaAddress;
  sourceReplicaId: string | null;
};

/** How each frozen layer gets to a rebuild's target; the rule itself lives in core. */
export type PlanLayers = (
  layers: readonly { id: string; name: string; onTarget: 'absent' }[],
) => { id: string; method: RebuildMethod; reason: string }[];

export type EngineDependencies = {
  connectControl: ConnectControl;
  /** Has the control plane record smaller members. Rejects with `engine.stale_epoch` when it must not. */
  confirmRecord: (record: CopyRecord) => Promise<void>;
  planLayers: PlanLayers;
  /** Something in the engine's report that is worth telling at once has changed. */
  onChange: () => void;
};
