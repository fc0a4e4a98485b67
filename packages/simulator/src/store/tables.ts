import type { QuotaLimits } from '@holdfast/access/quota.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { DUE_AT_ONCE, type FanOutBatch, type VolumeDue } from '@holdfast/control/ports/store.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type {
  ClusterId,
  DiskId,
  NodeId,
  OrganizationId,
  OrphanId,
  ProjectId,
  RebuildId,
  ReplicaId,
  SnapshotId,
  VolumeId,
} from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { Orphan } from '@holdfast/core/model/orphan.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { QuotaScope } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import { addEvent } from './event-causes.js';
import { IndexedRows } from './indexed-rows.js';

export type ClusterRow = {
  readonly id: ClusterId;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly settings: ClusterSettings;
  readonly settingsVersion: number;
  readonly admissionVersion: number;
  readonly balanceVersion: number;
};

/** A node with fields that only its agent and the store know. */
export type NodeRow = StorageNode & {
  readonly controlSecret: string;
  readonly pastBootIds: readonly string[];
  /** The last life of an agent that was refused. */
  readonly refusedBootId: string | undefined;
  /** The labels as the agent reported them last: those that users set stay until these change. */
  readonly reportedZone: string | undefined;
  readonly reportedRegion: string | undefined;
};

export type ObservationRow = {
  readonly volumeId: VolumeId;
  readonly nodeId: NodeId;
  readonly bootId: string;
  readonly at: Date;
  readonly report: Heartbeat['engines'][number];
};

export function observationKey(volumeId: VolumeId, nodeId: NodeId): string {
  return `${volumeId} ${nodeId}`;
}

/** Values of indexes over rows that have something: a task, a relocation. */
export const BUSY = 'busy';
export const MOVING = 'moving';

/** A walk over the volumes that a change of its subject concerns, which marks them due in batches. */
export type FanOutRow = {
  readonly of: FanOutBatch['of'];
  readonly subjectId: NodeId | DiskId | ClusterId;
  readonly clusterId: ClusterId;
  /** The last volume that was marked; `undefined` before the first batch. */
  readonly afterId: VolumeId | undefined;
  /** The subject changed during the walk: at its end it begins once more. */
  readonly again: boolean;
};

/**
 * All rows, by id. Rows are never changed in place, so views may hold them; a transaction that fails puts the old ones
 * back.
 */
export class Tables {
  readonly clusters = new IndexedRows<ClusterId, ClusterRow, never>({});
  readonly nodes = new IndexedRows<NodeId, NodeRow, 'name'>({ name: ({ name }) => name });
  readonly disks = new IndexedRows<DiskId, StorageDisk, 'node'>({ node: ({ nodeId }) => nodeId });
  readonly volumes = new IndexedRows<VolumeId, Volume, 'holder' | 'source' | 'busy'>({
    holder: holderOf,
    source: (volume) => fillOf(volume)?.sourceVolumeId,
    busy: ({ task, hashing, rebuildHold }) => (task ?? hashing ?? rebuildHold) && BUSY,
  });
  readonly replicas = new IndexedRows<ReplicaId, Replica, 'volume' | 'node' | 'disk' | 'moving'>({
    volume: ({ volumeId }) => volumeId,
    node: ({ nodeId }) => nodeId,
    disk: ({ diskId }) => diskId,
    moving: ({ relocation }) => relocation && MOVING,
  });
  readonly dues = new Map<VolumeId, VolumeDue>();
  readonly fanOuts = new Map<FanOutRow['subjectId'], FanOutRow>();
  readonly rebuilds = new IndexedRows<RebuildId, Rebuild, 'volume' | 'state'>({
    volume: ({ volumeId }) => volumeId,
    state: ({ state }) => state,
  });
  readonly snapshots = new IndexedRows<SnapshotId, Snapshot, 'volume'>({
    volume: ({ volumeId }) => volumeId,
  });
  readonly orphans = new IndexedRows<OrphanId, Orphan, 'node'>({ node: ({ nodeId }) => nodeId });
  /** By volume and node: an engine of an older epoch may still report from another node. */
  readonly observations = new IndexedRows<string, ObservationRow, 'node'>({ node: ({ nodeId }) => nodeId });
  readonly events: ClusterEvent[] = [];
  /** Events by those that follow from them, and the last loss or return of each node and disk. */
  readonly causes = new Map<ClusterEvent, ClusterEvent>();
  readonly lastOfPlace = new Map<string, ClusterEvent>();
  readonly outbox: WakeUp[] = [];
  /** Limits of organizations and projects that have some. */
  readonly quotas = new Map<
    OrganizationId | ProjectId,
    { readonly scope: QuotaScope; readonly limits: QuotaLimits }
  >();
}

/** One running change of the tables. Nothing of it stays when it is rolled back. */
export class Transaction {
  private readonly undo: (() => void)[] = [];
  private readonly volumes = new Set<VolumeId>();
  private readonly clusters = new Set<ClusterId>();
  private lookedAfter: VolumeId | undefined;
  private readonly events: ClusterEvent[] = [];

  constructor(readonly tables: Tables) {}

  put<Key, Row>(table: Map<Key, Row>, key: Key, row: Row): void {
    const before = table.get(key);
    this.undo.push(() => (before === undefined ? table.delete(key) : table.set(key, before)));
    table.set(key, row);
  }

  remove<Key, Row>(table: Map<Key, Row>, key: Key): void {
    const before = table.get(key);
    if (before === undefined) return;
    this.undo.push(() => table.set(key, before));
    table.delete(key);
  }

  get hasChanges(): boolean {
    return this.undo.length + this.volumes.size + this.clusters.size + this.events.length > 0;
  }

  touchVolume(id: VolumeId): void {
    this.volumes.add(id);
  }

  /** The cluster's reconciler runs the batches, so it is woken. */
  fanOut(clusterId: ClusterId, of: FanOutRow['of'], subjectId: FanOutRow['subjectId']): void {
    const known = this.tables.fanOuts.get(subjectId);
    const row = known ?? { of, subjectId, clusterId, afterId: undefined, again: false };
    this.put(this.tables.fanOuts, subjectId, { ...row, again: row.afterId !== undefined });
    this.touchCluster(clusterId);
  }

  /** The volume's own reconciler makes this transaction, and continues: it need not be woken. */
  lookAfter(volumeId: VolumeId): void {
    this.lookedAfter = volumeId;
  }

  touchCluster(id: ClusterId): void {
    this.clusters.add(id);
  }

  event(event: ClusterEvent): void {
    this.events.push(event);
  }

  commit(): void {
    for (const volumeId of this.volumes) {
      if (!this.tables.volumes.has(volumeId)) continue;
      const marks = (this.tables.dues.get(volumeId)?.marks ?? 0) + 1;
      this.tables.dues.set(volumeId, { at: DUE_AT_ONCE, marks });
      if (volumeId !== this.lookedAfter) this.tables.outbox.push({ kind: 'volume', volumeId });
    }
    for (const clusterId of this.clusters) this.tables.outbox.push({ kind: 'cluster', clusterId });
    for (const event of this.events) addEvent(this.tables, event);
  }

  rollback(): void {
    for (const step of this.undo.reverse()) step();
  }
}

export function conflict(why: string): StorageFault {
  return new StorageFault('store.conflict', { publicMessage: why });
}
