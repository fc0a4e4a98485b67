import type { AgentTarget } from '@holdfast/control/ports/agent-client.js';
import type {
  AdmissionView,
  Change,
  CommitGuard,
  DuePage,
  DueVolume,
  FanOutBatch,
  FleetView,
  FoundCopiesOf,
  HeartbeatStored,
  NodeVolumes,
  OrphanInContext,
  OrphansView,
  Store,
  VolumeDue,
  VolumeView,
} from '@holdfast/control/ports/store.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId, OrganizationId, OrphanId, VolumeId } from '@holdfast/core/model/ids.js';
import type { RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { AffectedPlaces } from '@holdfast/core/model/views.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import { rehearsal, type Scope, type Sql, snapshot, transaction, unsyncedTransaction } from '../sql/scope.js';
import { applyChange } from './apply-change.js';
import { lockDisks } from './booking.js';
import { sourceGone, takeCloneSources } from './clone-sources.js';
import { confirmRecord } from './confirm-record.js';
import { listDueVolumes, recordDue } from './due-volumes.js';
import { fanOut } from './fan-out.js';
import type { FleetReader, ReadFleet } from './fleet-reader.js';
import { takeGuard } from './guard.js';
import { recordHeartbeat } from './heartbeat.js';
import { loadAdmissionView } from './load-admissions.js';
import { loadAffectedVolumes, loadNodeVolumes, loadRebuildSpeeds } from './load-node-volumes.js';
import { loadFoundCopies, loadOrphan, loadOrphans } from './load-orphans.js';
import { loadFleetView, loadSettings, loadVolumeView } from './load-views.js';
import { assertRebuildQuotas } from './rebuild-quotas.js';
import { WakeUpSet, writeOutbox } from './wake-up-set.js';

/** A heartbeat has no guard, so it can simply be applied again; more often than this something is wrong. */
const HEARTBEAT_ATTEMPTS_MAX = 3;

export type StoreOptions = {
  /** Run in the transaction of every commit before its changes, for instance to record the present state. */
  beforeChanges?: (sql: Sql) => Promise<void>;
  /** Run in the transaction of every commit after its changes, for instance to write the audit log: both are stored, or neither. */
  afterChanges?: (sql: Sql) => Promise<void>;
  /** Commits are tried and rolled back: nothing is changed. */
  isRehearsal?: boolean;
  /** Keeps fleets between reads, for a process that plans many volumes. Left out: each view reads its whole fleet. */
  fleets?: FleetReader;
};

/** The `Store` port on Postgres: as the system role for all organizations, or as the api role for one of them. */
export class PostgresStore implements Store {
  constructor(
    private readonly scope: Scope,
    private readonly options: StoreOptions = {},
  ) {}

  loadVolume(volumeId: VolumeId): Promise<(VolumeView & { readonly due: VolumeDue }) | undefined> {
    return this.view((sql, readFleet) => loadVolumeView(sql, readFleet, volumeId));
  }

  loadFleet(clusterId: ClusterId): Promise<FleetView> {
    return this.view((_, readFleet) => readFleet(clusterId));
  }

  loadNodeVolumes(clusterId: ClusterId, nodeId: NodeId): Promise<NodeVolumes> {
    return this.view((sql, readFleet) => loadNodeVolumes(sql, readFleet, { clusterId, nodeId }));
  }

  loadAffectedVolumes(clusterId: ClusterId, places: AffectedPlaces, limit: number): Promise<NodeVolumes> {
    return this.view((sql, readFleet) => loadAffectedVolumes(sql, readFleet, { clusterId, places, limit }));
  }

  loadRebuildSpeeds(clusterId: ClusterId, limit: number): Promise<RebuildSpeed[]> {
    return snapshot(this.scope, (sql) => loadRebuildSpeeds(sql, clusterId, limit));
  }

  loadAdmissions(
    clusterId: ClusterId,
    options: { now: Date; limit: number },
  ): Promise<AdmissionView & { readonly version: number }> {
    return this.view((sql, readFleet) => loadAdmissionView(sql, readFleet, clusterId, options));
  }

  loadOrphans(clusterId: ClusterId, limit: number): Promise<OrphansView> {
    return snapshot(this.scope, async (sql) => {
      const { settings } = await loadSettings(sql, clusterId);
      return { settings, orphans: await loadOrphans(sql, clusterId, limit) };
    });
  }

  loadOrphan(orphanId: OrphanId): Promise<OrphanInContext | undefined> {
    return snapshot(this.scope, (sql) => loadOrphan(sql, orphanId));
  }

  loadFoundCopies(clusterId: ClusterId, of: FoundCopiesOf): Promise<OrphanInContext[]> {
    return snapshot(this.scope, (sql) => loadFoundCopies(sql, clusterId, of));
  }

  private view<T>(read: (sql: Sql, readFleet: ReadFleet) => Promise<T>): Promise<T> {
    const { fleets } = this.options;
    if (fleets !== undefined) return fleets.snapshot(this.scope, read);
    return snapshot(this.scope, (sql) => read(sql, (clusterId) => loadFleetView(sql, clusterId)));
  }

  listDueVolumes(page: DuePage): Promise<DueVolume[]> {
    return snapshot(this.scope, (sql) => listDueVolumes(sql, page));
  }

  recordDue(volumeId: VolumeId, due: { at: Date | undefined; ifMarks: number }): Promise<boolean> {
    // A volume whose new time is lost is due at its old one, and is reconciled once more.
    return unsyncedTransaction(this.scope, (sql) => recordDue(sql, volumeId, due));
  }

  fanOut(clusterId: ClusterId, limit: number): Promise<FanOutBatch | undefined> {
    return transaction(this.scope, (sql) => fanOut(sql, clusterId, limit));
  }

  async listClusters(): Promise<ClusterId[]> {
    const { rows } = await snapshot(this.scope, (sql) =>
      sql.query<{ id: ClusterId }>('SELECT id FROM cluster ORDER BY id'),
    );
    return rows.map(({ id }) => id);
  }

  async agentOf(nodeId: NodeId): Promise<AgentTarget | undefined> {
    type AgentRow = { id: NodeId; name: string; control_url: string | null; control_secret: string | null };
    const { rows } = await snapshot(this.scope, (sql) =>
      sql.query<AgentRow>('SELECT id, name, control_url, control_secret FROM node WHERE id = $1', [nodeId]),
    );
    const row = rows[0];
    if (row === undefined || row.control_url === null || row.control_secret === null) return undefined;
    return { id: row.id, name: row.name, controlUrl: row.control_url, controlSecret: row.control_secret };
  }

  /** Locks are taken in one order everywhere: the guarded row, sources of clones, disks by id, then what the changes name. */
  async commit(guard: CommitGuard, changes: readonly Change[]): Promise<void> {
    const run = this.options.isRehearsal === true ? rehearsal : transaction;
    await run(this.scope, async (sql) => {
      const touched = new WakeUpSet();
      if (guard.kind === 'volume' && guard.looksAgain === true) touched.lookedAfter = guard.volumeId;
      await takeGuard(sql, guard);
      await this.options.beforeChanges?.(sql);
      await takeSources(sql, changes);
      await lockDisks(sql, changes);
      const gone = new Map<string, OrganizationId>();
      for (const change of changes) await applyChange({ sql, guard, touched, gone }, change);
      await writeOutbox(sql, touched);
      await this.options.afterChanges?.(sql);
      // Quotas' rows are locked after everything else, here as by their triggers.
      await assertRebuildQuotas(sql, changes);
    });
  }

  async recordHeartbeat(
    clusterId: ClusterId,
    heartbeat: Heartbeat,
    now?: Date,
    newNodeId?: NodeId,
  ): Promise<HeartbeatStored> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const heard = await transaction(this.scope, (sql) =>
          recordHeartbeat(sql, clusterId, heartbeat, { at: now, newNodeId }),
        );
        if (heard.refusal !== undefined) throw heard.refusal;
        const { nodeId, disks, stamps, reportId } = heard;
        return { nodeId, disks, stamps, ...(reportId !== undefined && { reportId }) };
      } catch (error) {
        if (!isFault(error, 'store.conflict') || attempt === HEARTBEAT_ATTEMPTS_MAX) throw error;
      }
    }
  }

  confirmRecord(volumeId: VolumeId, record: CopyRecord, grantId?: string, askedBy?: NodeId): Promise<void> {
    return transaction(this.scope, (sql) => confirmRecord(sql, volumeId, record, { grantId, askedBy }));
  }
}

/** @throws StorageFault `snapshot.in_use` when the source of a new volume's data no longer exists */
async function takeSources(sql: Sql, changes: readonly Change[]): Promise<void> {
  const fills = changes.flatMap((change) => {
    const fill = change.kind === 'volume.create' ? fillOf(change.volume) : undefined;
    return fill === undefined ? [] : [fill];
  });
  const there = await takeCloneSources(sql, fills);
  if (there.size < fills.length) throw sourceGone();
}
