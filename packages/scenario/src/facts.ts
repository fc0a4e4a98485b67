/** Facts of a moment: what a reader of the API sees of a cluster, with names for ids. Drivers make them, expectations judge them. */
import type { Condition } from '@holdfast/core/model/condition.js';
import type { RebuildState } from '@holdfast/core/model/rebuild.js';
import type { ReplicaIntent, ReplicaMode, ReplicaState } from '@holdfast/core/model/replica.js';

export type ConditionFacts = Pick<Condition<string>, 'type' | 'status' | 'reason' | 'message'>;

export type ReplicaFacts = {
  readonly id: string;
  readonly node: string | null;
  /** As node/disk. */
  readonly disk: string | null;
  readonly zone: string | null;
  readonly mode: ReplicaMode | null;
  readonly state: ReplicaState;
  readonly intent: ReplicaIntent;
  /** A full copy, as far as is known. */
  readonly isHealthy: boolean;
};

export type SnapshotFacts = { readonly name: string; readonly origin: string; readonly state: string };

export type RebuildFacts = {
  readonly id: string;
  readonly volume: string;
  readonly targetReplicaId: string;
  readonly targetNode: string;
  readonly sourceNodes: readonly string[];
  readonly state: RebuildState;
  readonly methods: readonly string[];
  readonly waitingReason: string | null;
};

export type VolumeFacts = {
  readonly name: string;
  readonly state: string;
  readonly robustness: string;
  readonly attachedTo: string | null;
  readonly hasEndpoint: boolean;
  readonly sizeBytes: number;
  readonly numberOfReplicas: number;
  readonly attention: string | null;
  readonly task: string | null;
  readonly conditions: readonly ConditionFacts[];
  readonly replicas: readonly ReplicaFacts[];
  readonly snapshots: readonly SnapshotFacts[];
  readonly rebuilds: readonly RebuildFacts[];
  /** The replica that the API names as the one to go first, of those that are one too many or could become it. */
  readonly namedVictim: string | null;
  /** Acknowledged writes that some copy in use does not hold. */
  readonly missingWrites: number;
};

export type NodeFacts = {
  readonly name: string;
  readonly conditions: readonly ConditionFacts[];
  readonly cordoned: boolean;
  readonly evictionRequested: boolean;
  readonly isInMaintenance: boolean;
  readonly isAutoEvicting: boolean;
  readonly drain: string | null;
};

/** `name` is node/disk. */
export type DiskFacts = { readonly name: string; readonly conditions: readonly ConditionFacts[] };

export type EventFacts = {
  readonly id: string;
  readonly type: string;
  readonly volume: string | null;
  readonly message: string;
};

export type Facts = {
  readonly volumes: readonly VolumeFacts[];
  readonly nodes: readonly NodeFacts[];
  readonly disks: readonly DiskFacts[];
  /** The newest last. A driver may report an event again. */
  readonly events: readonly EventFacts[];
};
