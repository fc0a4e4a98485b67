/**
 * The Store in memory, with the semantics of the one on Postgres: guards and version conflicts, booking under limits,
 * all-or-nothing commits, outbox wake-ups, heartbeats that store facts only. The contract suite holds both to it.
 */

import type { QuotaLimits } from '@holdfast/access/quota.js';
import type { SettingChange, StoredSettings } from '@holdfast/control/ports/access-store.js';
import type { AgentTarget } from '@holdfast/control/ports/agent-client.js';
import type { Random } from '@holdfast/control/ports/clock.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
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
} from '@holdfast/control/ports/store.js';
import { START_CALL_MS_MAX } from '@holdfast/core/admission/plan-admissions.js';
import type { GrowthEvent } from '@holdfast/core/checks/placement-invariants.js';
import { pressingTask } from '@holdfast/core/lifecycle/plan-task-admission.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, compareRecords } from '@holdfast/core/model/copy-record.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import {
  type ClusterId,
  compareIds,
  type NodeId,
  type OrganizationId,
  type OrphanId,
  type ProjectId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { type Rebuild, type RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { AffectedPlaces, QuotaScope } from '@holdfast/core/model/views.js';
import { grantOf, holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { requireMembersOf } from '@holdfast/core/policy/known-members.js';
import { settingEvents } from '@holdfast/core/policy/setting-events.js';
import {
  effectiveSettings,
  parseSettingValue,
  type SettingValue,
} from '@holdfast/core/settings/effective.js';
import { admissionTasks, taskVolume } from './admission-tasks.js';
import { applyChange, takeGuard } from './apply-change.js';
import { backupOf, restoreTables, type TablesBackup } from './backup.js';
import { deleteNode } from './delete-node.js';
import { dueVolumes, recordDue, runFanOut } from './due-volumes.js';
import { storeHeartbeat } from './heartbeat.js';
import { affectedVolumes, rebuildSpeeds, volumesOnNode } from './node-volumes.js';
import { type ObservedPlacement, observedGrowth, observedPlacement } from './observed-placement.js';
import { foundCopies, inContext, orphansOf } from './orphans.js';
import { assertRebuildQuotas, assertWithinQuotas, quotaUse, rebuildQuotas } from './quotas.js';
import { BUSY, type ClusterRow, type NodeRow, Tables, Transaction } from './tables.js';
import { engineOf, type LoadedVolume, VolumeViews } from './volume-views.js';

export class MemoryStore implements Store {
  /** Read by what watches a simulation. */
  readonly tables = new Tables();
  /** Number of commits: a reconciler that changes nothing makes none. */
  commits = 0;
  /** Number of transactions that changed anything, those of agents and engines too. */
  changes = 0;
  private heard = 0;

  /** Fleets as they were made last, and after how many changes of their rows. */
  private readonly fleets = new Map<ClusterId, { readonly changes: number; readonly fleet: FleetView }>();

  private readonly views = new VolumeViews(this.tables);

  private backup: TablesBackup | undefined;
  private diskList:
    | { readonly changes: number; readonly ofNodes: string; readonly disks: FleetView['disks'] }
    | undefined;

  /** Volumes of nodes, as they were looked up last: a drain looks with every sweep. */
  private readonly onNodes = new Map<NodeId, { changes: number; volumes: NodeVolumes['volumes'] }>();

  /** Hears of every replica that was booked to grow. */
  onGrowth: (growth: GrowthEvent) => void = () => undefined;

  /** Would a run of the volume's reconciler change nothing? A simulated world knows; the due time stays as it is. */
  isSettled: (volumeId: VolumeId, now: Date) => boolean = () => false;

  /** Number of changes of what every volume of a cluster may be planned from: its nodes, disks and moves under way. */
  get sharedChanges(): number {
    const { nodes, disks, replicas } = this.tables;
    return nodes.changes - this.heard + disks.changes + replicas.changesOf('moving');
  }

  /** Number of changes of what the cluster's reconciler admits from and cleans up. */
  get queueChanges(): number {
    const { rebuilds, orphans, clusters } = this.tables;
    return this.sharedChanges + rebuilds.changes + orphans.size + clusters.changes;
  }

  /** @param onPlacement hears of every replica that was given a place, with the fleet as it was just before */
  constructor(
    private readonly random: Random,
    private readonly onPlacement: (placement: ObservedPlacement) => void = () => undefined,
  ) {}

  createCluster(id: ClusterId): void {
    this.tables.clusters.set(id, {
      id,
      overrides: {},
      settings: effectiveSettings({}),
      settingsVersion: 1,
      admissionVersion: 1,
      balanceVersion: 1,
    });
  }

  /** Settings of a cluster as they are stored. `undefined`: there is no such cluster. */
  storedSettings(clusterId: ClusterId): StoredSettings | undefined {
    const row = this.tables.clusters.get(clusterId);
    return row === undefined ? undefined : { version: row.settingsVersion, overrides: row.overrides };
  }

  storeSetting(clusterId: ClusterId, { name, value, events }: Omit<SettingChange, 'at'>): void {
    const row = this.clusterRow(clusterId);
    const { [name]: _, ...others } = row.overrides;
    const overrides = value === undefined ? others : { ...others, [name]: value };
    const settings = effectiveSettings(overrides);
    const settingsVersion = row.settingsVersion + 1;
    this.tables.clusters.set(clusterId, { ...row, overrides, settings, settingsVersion });
    this.transact((transaction) => {
      transaction.fanOut(clusterId, 'cluster', clusterId);
      for (const event of events) transaction.event(event);
    });
  }

  /** Sets a setting for a test, whether it may be set so or not. @param at when it is said to have changed */
  setSetting(clusterId: ClusterId, name: SettingName, wanted: SettingValue, at = new Date(0)): void {
    const { overrides, settings: before } = this.clusterRow(clusterId);
    const value = parseSettingValue(name, wanted);
    const after = effectiveSettings({ ...overrides, [name]: value });
    this.storeSetting(clusterId, { name, value, events: settingEvents(clusterId, { before, after, at }) });
  }

  backUp(): void {
    this.backup = backupOf(this.tables);
  }

  /** Puts all rows back as they were at the last backup. */
  restore(now: Date): void {
    if (this.backup === undefined) throw new Bug('there is no backup to restore');
    restoreTables(this.tables, this.backup, now);
    this.changes += 1;
  }

  /** Sets the limits of an organization or a project. */
  setQuota(scope: QuotaScope, id: OrganizationId | ProjectId, limits: QuotaLimits): void {
    this.tables.quotas.set(id, { scope, limits });
  }

  get hasWakeUps(): boolean {
    return this.tables.outbox.length > 0;
  }

  /** Empties the outbox, as the relay does. */
  takeWakeUps(): WakeUp[] {
    return this.tables.outbox.splice(0);
  }

  get events(): readonly ClusterEvent[] {
    return this.tables.events;
  }

  /** The event that this one follows from. */
  causeOf(event: ClusterEvent): ClusterEvent | undefined {
    return this.tables.causes.get(event);
  }

  get volumeIds(): VolumeId[] {
    return [...this.tables.volumes.keys()];
  }

  async loadVolume(volumeId: VolumeId): Promise<LoadedVolume | undefined> {
    const volume = this.tables.volumes.get(volumeId);
    return volume === undefined ? undefined : this.views.of(volume, this.fleet(volume.clusterId));
  }

  async loadFleet(clusterId: ClusterId): Promise<FleetView> {
    return this.fleet(clusterId);
  }

  async loadNodeVolumes(clusterId: ClusterId, nodeId: NodeId): Promise<NodeVolumes> {
    const known = this.onNodes.get(nodeId);
    const volumes = known?.changes === this.changes ? known.volumes : volumesOnNode(this.tables, nodeId);
    this.onNodes.set(nodeId, { changes: this.changes, volumes });
    return { fleet: this.fleet(clusterId), volumes };
  }

  async loadAffectedVolumes(
    clusterId: ClusterId,
    places: AffectedPlaces,
    limit: number,
  ): Promise<NodeVolumes> {
    const volumes = affectedVolumes(this.tables, clusterId, places).slice(0, limit);
    return { fleet: this.fleet(clusterId), volumes };
  }

  async loadRebuildSpeeds(clusterId: ClusterId, limit: number): Promise<RebuildSpeed[]> {
    return rebuildSpeeds(this.tables, clusterId, limit);
  }

  private fleet(clusterId: ClusterId): FleetView {
    const { clusters, nodes: nodeRows, disks: diskRows } = this.tables;
    const changes = clusters.changes + nodeRows.changes + diskRows.changes;
    const known = this.fleets.get(clusterId);
    if (known?.changes === changes) return known.fleet;
    const fleet = this.newFleet(clusterId);
    this.fleets.set(clusterId, { changes, fleet });
    return fleet;
  }

  private newFleet(clusterId: ClusterId): FleetView {
    const { settings, settingsVersion } = this.clusterRow(clusterId);
    const nodes = [...this.tables.nodes.values()].filter((node) => node.clusterId === clusterId);
    return {
      clusterId,
      settings,
      settingsVersion,
      nodes: nodes.sort((a, b) => compareIds(a.id, b.id)),
      disks: this.disksOf(nodes),
    };
  }

  /** The previous list while no disk has changed: heartbeats change nodes every few seconds, and results about disks stay valid. */
  private disksOf(nodes: readonly NodeRow[]): FleetView['disks'] {
    const { disks } = this.tables;
    const ofNodes = nodes.map(({ id }) => id).join();
    if (this.diskList?.changes === disks.changes && this.diskList.ofNodes === ofNodes)
      return this.diskList.disks;
    const nodeIds = new Set(nodes.map(({ id }) => id));
    const list = [...disks.values()]
      .filter(({ nodeId }) => nodeIds.has(nodeId))
      .sort((a, b) => compareIds(a.id, b.id));
    this.diskList = { changes: disks.changes, ofNodes, disks: list };
    return list;
  }

  /** As the API deletes a node that is gone. @returns the obstacle */
  deleteNode(nodeId: NodeId): 'deleted' | 'gone' | 'holds-replicas' | 'ready' {
    return this.transact((transaction) => deleteNode(transaction, nodeId));
  }

  async loadAdmissions(
    clusterId: ClusterId,
    options: { now: Date; limit: number },
  ): Promise<AdmissionView & { version: number }> {
    const { settings, nodes } = await this.loadFleet(clusterId);
    const { rebuilds, volumes } = this.tables;
    const inState = (...states: Rebuild['state'][]) =>
      states.flatMap((state) => rebuilds.by('state', state)).filter((row) => row.clusterId === clusterId);
    return {
      clusterId,
      settings,
      nodes,
      queued: inState('queued'),
      running: inState('running'),
      rebuilt: inState('queued', 'running').flatMap(({ volumeId }) => {
        const volume = volumes.get(volumeId);
        return volume === undefined ? [] : [{ ...taskVolume(this.tables, volumeId), spec: volume.spec }];
      }),
      ending: inState('cancelled', 'failed').filter((rebuild) => this.mayStillRun(rebuild)),
      blocked: volumes.by('busy', BUSY).flatMap((volume) => {
        const reason = volume.rebuildHold ?? pressingTask(volume)?.kind;
        return reason === undefined || volume.clusterId !== clusterId
          ? []
          : [{ volumeId: volume.id, reason }];
      }),
      quotas: rebuildQuotas(this.tables, clusterId),
      tasks: admissionTasks(this.tables, clusterId, settings, options),
      version: this.clusterRow(clusterId).admissionVersion,
    };
  }

  async loadOrphans(clusterId: ClusterId, limit: number): Promise<OrphansView> {
    const { settings } = this.clusterRow(clusterId);
    return { settings, orphans: orphansOf(this.tables, clusterId, limit) };
  }

  async loadOrphan(orphanId: OrphanId): Promise<OrphanInContext | undefined> {
    const orphan = this.tables.orphans.get(orphanId);
    return orphan === undefined ? undefined : inContext(this.tables, orphan);
  }

  async loadFoundCopies(clusterId: ClusterId, of: FoundCopiesOf): Promise<OrphanInContext[]> {
    return foundCopies(this.tables, clusterId, of);
  }

  /** See `Store.loadAdmissions`. */
  private mayStillRun({ id, volumeId, state, epoch, finishedAt }: Rebuild): boolean {
    const volume = this.tables.volumes.get(volumeId);
    const grant = volume === undefined ? undefined : grantOf(volume);
    const holder = grant === undefined ? undefined : this.tables.nodes.get(grant.nodeId);
    if (state !== 'cancelled' && state !== 'failed') return false;
    if (volume === undefined || epoch !== volume.epoch) return false;
    if (holder === undefined || holder.bootId !== grant?.bootId) return false;

    const engine = engineOf(this.tables, volume);
    const listed = engine?.report.rebuilds.find(({ rebuildId }) => rebuildId === id);
    if (listed !== undefined) return listed.state === 'running';
    const endMs = finishedAt?.getTime() ?? 0;
    return engine === undefined || engine.at.getTime() <= endMs + START_CALL_MS_MAX;
  }

  async listDueVolumes(page: DuePage): Promise<DueVolume[]> {
    return dueVolumes(this.tables, page).filter(({ volumeId }) => !this.isSettled(volumeId, page.now));
  }

  async recordDue(volumeId: VolumeId, due: { at: Date | undefined; ifMarks: number }): Promise<boolean> {
    return recordDue(this.tables, volumeId, due);
  }

  async fanOut(clusterId: ClusterId, limit: number): Promise<FanOutBatch | undefined> {
    return this.transact((transaction) => runFanOut(transaction, clusterId, limit));
  }

  async listClusters(): Promise<ClusterId[]> {
    return [...this.tables.clusters.keys()];
  }

  async agentOf(nodeId: NodeId): Promise<AgentTarget | undefined> {
    const node = this.tables.nodes.get(nodeId);
    if (node === undefined) return undefined;
    const { id, name, controlUrl, controlSecret } = node;
    return { id, name, controlUrl, controlSecret };
  }

  async commit(guard: CommitGuard, changes: readonly Change[]): Promise<void> {
    const { placements, growths } = this.transact((transaction) => {
      const useBefore = quotaUse(this.tables);
      takeGuard(transaction, guard);
      const observed = changes.map((change) => {
        const placement = observedPlacement(this.tables, change, () => this.fleetOf(change));
        const growth = observedGrowth(this.tables, change, (volume) => this.fleet(volume.clusterId));
        applyChange(transaction, change, guard);
        return { placement, growth };
      });
      assertWithinQuotas(this.tables, useBefore);
      assertRebuildQuotas(this.tables, changes);
      return {
        placements: observed.flatMap(({ placement }) => placement ?? []),
        growths: observed.flatMap(({ growth }) => growth ?? []),
      };
    });
    this.commits += 1;
    for (const placement of placements) this.onPlacement(placement);
    for (const growth of growths) this.onGrowth(growth);
  }

  private fleetOf(change: Change): FleetView {
    const nodeId = change.kind === 'replica.place' ? change.nodeId : undefined;
    const ownId = nodeId ?? (change.kind === 'replica.create' ? change.replica.nodeId : undefined);
    const clusterId = ownId === undefined ? undefined : this.tables.nodes.get(ownId)?.clusterId;
    if (clusterId === undefined) throw new Bug('a replica was placed on a node that is not there');
    return this.fleet(clusterId);
  }

  async recordHeartbeat(
    clusterId: ClusterId,
    heartbeat: Heartbeat,
    now: Date = new Date(),
    newNodeId?: NodeId,
  ): Promise<HeartbeatStored> {
    const newId = () => this.random.id();
    const [before] = this.tables.nodes.by('name', heartbeat.node.name);
    const { nodeId, disks, stamps, refusal } = this.transact((transaction) =>
      storeHeartbeat(transaction, { clusterId, heartbeat, now, newId, newNodeId }),
    );
    if (before !== undefined && isOnlyHeard(before, this.tables.nodes.get(nodeId))) this.heard += 1;
    if (refusal !== undefined) throw refusal;
    return { nodeId, disks, stamps };
  }

  /** Agents without news: they were heard now, and their last reports of engines are current. */
  hear(nodeIds: readonly NodeId[], now: Date): void {
    const { nodes } = this.tables;
    for (const nodeId of nodeIds) {
      const row = nodes.get(nodeId);
      if (row === undefined || row.forget !== undefined) continue;
      nodes.set(nodeId, { ...row, lastHeartbeatAt: now });
      this.heard += 1;
    }
  }

  async confirmRecord(
    volumeId: VolumeId,
    record: CopyRecord,
    grantId?: string,
    askedBy?: NodeId,
  ): Promise<void> {
    this.transact((transaction) => {
      const volume = transaction.tables.volumes.get(volumeId);
      const order = volume?.record === undefined ? -1 : compareRecords(volume.record, record);
      if (volume === undefined || volume.epoch !== record.epoch || order > 0) throw stale(volumeId);
      const isOther = grantId !== undefined && volume.grantId !== undefined && volume.grantId !== grantId;
      if (isOther) throw stale(volumeId);
      if (askedBy !== undefined) {
        if (holderOf(volume) !== askedBy) throw stale(volumeId);
        const replicas = transaction.tables.replicas.by('volume', volumeId);
        requireMembersOf(
          replicas.map(({ id }) => id),
          record,
          volume.record,
        );
      }
      if (order === 0) return;
      transaction.put(transaction.tables.volumes, volumeId, {
        ...volume,
        record,
        version: volume.version + 1,
      });
      transaction.touchVolume(volumeId);
    });
  }

  private transact<T>(work: (transaction: Transaction) => T): T {
    const transaction = new Transaction(this.tables);
    try {
      const result = work(transaction);
      transaction.commit();
      if (transaction.hasChanges) this.changes += 1;
      return result;
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  }

  private clusterRow(clusterId: ClusterId): ClusterRow {
    const row = this.tables.clusters.get(clusterId);
    if (row !== undefined) return row;
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
}

function isOnlyHeard(before: NodeRow, after: NodeRow | undefined): boolean {
  if (after === undefined || after === before) return false;
  // The keys of a row are the names of its type.
  const names = Object.keys(after) as (keyof NodeRow)[];
  return names.every((name) => name === 'lastHeartbeatAt' || before[name] === after[name]);
}

function stale(volumeId: VolumeId): StorageFault {
  return new StorageFault('engine.stale_epoch', {
    publicMessage: `volume ${volumeId} has a newer attachment or record`,
  });
}
