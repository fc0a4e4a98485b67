/**
 * Invariants of a simulated cluster, watched all the time: of one volume after each run of its reconciler, of the whole
 * after each tick. Each finding is a sentence. Rules by which standing things would be judged may change during a run; what
 * is watched here is judged at the moment at which it came to be.
 */
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { VolumeView } from '@holdfast/control/ports/store.js';
import { checkBookedSums } from '@holdfast/core/checks/booking-sums.js';
import { checkCordonDetachment, checkFailover } from '@holdfast/core/checks/switches.js';
import { checkVolume } from '@holdfast/core/checks/volume-invariants.js';
import { checkRebuildWaits, checkVolumeWaits } from '@holdfast/core/checks/wait-invariants.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { Bug } from '@holdfast/core/model/faults.js';
import {
  asId,
  type NodeId,
  type RebuildId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { isPreempted, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import { isEvicting } from '@holdfast/core/model/volume-facts.js';
import { isDeleting, isRepairing, requestOf } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import { HealthWatch } from './health-watch.js';
import { checksumOf, DAMAGE, writesOf } from './sim-copy.js';
import type { SimEngine } from './sim-engine.js';
import { TaskWatch } from './task-watch.js';
import { QUEUE_SETTLES_MS, type World } from './world.js';

const NONE: ReadonlySet<number> = new Set();

export class WorldWatch {
  readonly findings = new Set<string>();
  private readonly fullCopies = new Map<VolumeId, readonly ReplicaId[]>();
  private running = new Set<RebuildId>();
  private readonly purges = new WeakMap<SimEngine, number>();
  private readonly repairs = new Set<string>();
  /** After how many changes of the store each volume was checked last. */
  private readonly checked = new Map<VolumeId, number>();
  private readonly verified = new Map<VolumeId, number>();
  private bookingChanges = 0;
  private eventsSeen = 0;
  private readonly tasks: TaskWatch;
  private readonly health: HealthWatch;

  constructor(private readonly world: World) {
    this.tasks = new TaskWatch(world.store.tables);
    this.health = new HealthWatch(world);
    world.onWakeUp = (wakeUp) => this.afterWakeUp(wakeUp);
    world.onTick = () => this.afterTick();
  }

  private async afterWakeUp(wakeUp: WakeUp): Promise<void> {
    if (wakeUp.kind === 'cluster') {
      this.watchLimits();
      this.report(this.tasks.look(this.settings()));
      this.watchQueue();
      return;
    }
    await this.watchVolume(wakeUp.volumeId);
  }

  private async watchVolume(volumeId: VolumeId): Promise<void> {
    const { changes } = this.world.store;
    // In an unchanged cluster only the due time may have been moved.
    const isChecked = this.checked.get(volumeId) === changes;
    const isSettled = this.world.isSettled(volumeId);
    if (isChecked && !isSettled) return;
    this.checked.set(volumeId, changes);
    const view = await this.world.store.loadVolume(volumeId);
    if (view === undefined) return;
    if (isSettled) this.report(checkVolumeWaits(view, view.due.at));
    if (isChecked) return;
    this.report(this.health.look([volumeId]));
    this.watchFill(view);
    this.noteDamage(view);
    this.report(checkVolume(view).filter((finding) => !finding.includes('has two copies in one')));
    this.watchLastCopy(view);
    this.watchOfflineRebuild(view);
  }

  /** Moments at which comparisons have identified the odd copies: from then on their damage is known. */
  private noteDamage({ volume: { id, verification }, replicas }: VolumeView): void {
    if (verification?.state !== 'done' || verification.finishedAt === undefined) return;
    if (this.verified.get(id) === verification.finishedAt.getTime()) return;
    this.verified.set(id, verification.finishedAt.getTime());
    const read = verification.replicas.filter(({ checksum }) => checksum !== null);
    for (const { replicaId, checksum } of read) {
      const replica = replicas.find((one) => one.id === replicaId);
      const isOdd = 2 * read.filter((one) => one.checksum !== checksum).length > read.length;
      const copy =
        replica === undefined ? undefined : this.world.fleet.holderOf(replica)?.copies.get(replica.id);
      if (isOdd && verification.verdict === 'damaged' && copy?.writes.has(DAMAGE) === true)
        copy.isKnownDamaged = true;
    }
  }

  /** From when it is filled on, a clone holds what had been acknowledged of its source before the snapshot. */
  private watchFill({ volume }: VolumeView): void {
    const { onFilled } = this.world;
    if (fillOf(volume) !== undefined || isDeleting(volume)) return;
    onFilled.get(volume.id)?.();
    onFilled.delete(volume.id);
  }

  /** The worker attaches a volume for a rebuild only where that is wanted then. */
  private watchOfflineRebuild(view: VolumeView): void {
    const { volume, replicas, fleet } = view;
    const request = isRepairing(volume) ? requestOf(volume) : undefined;
    const key = request === undefined ? undefined : `${volume.id} ${request.requestedAt.getTime()}`;
    if (key === undefined || this.repairs.has(key)) return;
    this.repairs.add(key);
    const own = volume.spec.offlineRebuilding;
    const isWanted = own === 'ignored' ? fleet.settings['offline-replica-rebuilding'] : own === 'enabled';
    // A volume that has to leave its place, is moved by a user or is to grow is attached whether or not lost copies are rebuilt. One
    // that has left is gone.
    const isMoved =
      replicas.some((replica) => replica.relocation !== undefined || isEvicting(replica, fleet, replicas)) ||
      conditionOf(volume.conditions, 'OfflineRebuilding')?.message.startsWith('copies of volume') === true;
    const isGrowing = volume.task?.kind === 'expand';
    if (!isWanted && !isMoved && !isGrowing)
      this.report([`volume ${volume.name} is attached for a rebuild that is not wanted`]);
  }

  private async afterTick(): Promise<void> {
    this.report(this.world.momentFindings);
    const { changed } = this.world.fleet;
    for (const volumeId of changed) {
      const engines = this.world.fleet.enginesOf(volumeId);
      this.watchWriters(volumeId, engines);
      if (engines.some(({ layers }) => layers.isBusy)) this.watchPurges(volumeId, engines);
    }
    this.report(this.health.look(changed));
    changed.clear();
    this.watchBookings();
    this.watchEvents();
  }

  /** Rebuilds that wait in a queue without changes for a while were considered, and have a reason for waiting. */
  private watchQueue(): void {
    if (!this.world.isQueueSettled) return;
    const sinceMs = this.world.clock.now().getTime() - QUEUE_SETTLES_MS;
    const queued = this.world.store.tables.rebuilds.by('state', 'queued');
    this.report(checkRebuildWaits(queued.filter(({ queuedAt }) => queuedAt.getTime() <= sinceMs)));
  }

  private watchEvents(): void {
    const { events, tables } = this.world.store;
    for (const { type, volumeId } of events.slice(this.eventsSeen)) {
      const volume = volumeId === undefined ? undefined : tables.volumes.get(asId<VolumeId>(volumeId));
      if (volume === undefined) continue;
      const judged = { volume, settings: this.settings() };
      if (type === 'VolumeFailedOver') this.report(checkFailover(judged));
      if (type === 'VolumeDetachedFromCordonedNode') this.report(checkCordonDetachment(judged));
    }
    this.eventsSeen = events.length;
  }

  private watchBookings(): void {
    const { disks, replicas } = this.world.store.tables;
    const changes = disks.changes + replicas.changes;
    if (changes === this.bookingChanges) return;
    this.bookingChanges = changes;
    this.report(checkBookedSums([...disks.values()], [...replicas.values()]));
  }

  /** The last full copy of a volume only goes with the volume, or by failing. */
  private watchLastCopy({ volume, replicas }: VolumeView): void {
    const before = this.fullCopies.get(volume.id) ?? [];
    const now = replicas.filter(isHealthy).map(({ id }) => id);
    this.fullCopies.set(volume.id, now);
    const isGone = (id: ReplicaId) => !replicas.some((replica) => replica.id === id);
    if (now.length > 0 || isDeleting(volume) || before.length === 0 || !before.every(isGone)) return;
    // It may have failed and gone since the last look, as one on a forgotten node does.
    const news = this.world.store.events.slice(this.eventsSeen);
    if (news.some(({ type, subject }) => type === 'ReplicaFailed' && before.some((id) => id === subject.id)))
      return;
    this.report([`the last full copy of volume ${volume.name} was removed`]);
  }

  /** At most one engine of a volume may acknowledge writes; copies that it reads from hold the same. */
  private watchWriters(volumeId: VolumeId, engines: readonly SimEngine[]): void {
    let writers = 0;
    for (const engine of engines) {
      const copies = engine.copiesInUse();
      if (!engine.isServing || copies === undefined) continue;
      writers += 1;
      if (copies.some(({ isKnownDamaged }) => isKnownDamaged))
        this.report([`a copy of volume ${volumeId} is read from and known to be damaged`]);
      const acknowledged = this.world.acknowledged.get(volumeId) ?? NONE;
      if (copies.some(({ writes }) => [...acknowledged].some((number) => !writes.has(number))))
        this.report([`a copy of volume ${volumeId} is read from and lacks acknowledged writes`]);
      const held = copies.map((copy) => checksumOf({ ...copy, writes: writesOf(copy) }));
      if (new Set(held).size > 1)
        this.report([`copies of volume ${volumeId} that are read from hold different contents`]);
    }
    if (writers > 1) this.report([`${writers} engines of volume ${volumeId} may acknowledge writes`]);
  }

  /** No purge begins while purges are switched off. */
  private watchPurges(volumeId: VolumeId, engines: readonly SimEngine[]): void {
    const isOff = this.settings()['disable-snapshot-purge'];
    for (const engine of engines) {
      const begun = engine.layers.purges;
      if (begun === this.purges.get(engine)) continue;
      this.purges.set(engine, begun);
      if (engine.layers.isBusy && isOff) this.report([`volume ${volumeId} is purged while purges are off`]);
    }
  }

  /**
   * For a rebuild that begins to run, or continues after it was preempted, the present limits hold together with those that ran
   * before it.
   */
  private watchLimits(): void {
    const settings = this.settings();
    const running = this.world.store.tables.rebuilds
      .by('state', 'running')
      .filter((rebuild) => !isPreempted(rebuild));
    const started = running.filter(({ id }) => !this.running.has(id));
    this.running = new Set(running.map(({ id }) => id));
    for (const rebuild of started) {
      const { targetNodeId, sourceNodeIds } = rebuild;
      const over = [
        ...(running.length > settings['concurrent-rebuild-per-cluster-limit'] ? ['in the cluster'] : []),
        ...(count(running, (one) => [one.targetNodeId], targetNodeId) >
        settings['concurrent-replica-rebuild-per-node-limit']
          ? ['to its target node']
          : []),
        ...(sourceNodeIds.some(
          (nodeId) =>
            count(running, (one) => one.sourceNodeIds, nodeId) >
            settings['concurrent-rebuild-source-per-node-limit'],
        )
          ? ['from a source node']
          : []),
      ];
      this.report(over.map((where) => `a rebuild began over the limit ${where}`));
    }
  }

  private settings(): ClusterSettings {
    const row = this.world.store.tables.clusters.get(this.world.clusterId);
    if (row === undefined) throw new Bug('the world has no cluster');
    return row.settings;
  }

  private report(findings: readonly string[]): void {
    for (const finding of findings) this.findings.add(finding);
  }
}

function count(
  running: readonly Rebuild[],
  nodesOf: (rebuild: Rebuild) => readonly NodeId[],
  nodeId: NodeId,
): number {
  return running.filter((rebuild) => nodesOf(rebuild).includes(nodeId)).length;
}
