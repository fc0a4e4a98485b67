/**
 * Invariants of a simulated cluster, watched all the time: of one volume after each run of its reconciler, of the whole
 * after each tick. Each finding is a sentence. Rules by which standing things would be judged may change during a run; what
 * is watched here is judged at the moment at which it came to be.
 */
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { VolumeView } from '@holdfast/control/ports/store.js';
import { checkBookedSums } from '@holdfast/core/checks/booking-sums.js';
import { checkVolume } from '@holdfast/core/checks/volume-invariants.js';
import type { NodeId, RebuildId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { isPreempted, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { isEvicting } from '@holdfast/core/model/volume-facts.js';
import { isDeleting, isRepairing, requestOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checksumOf } from './sim-copy.js';
import type { SimEngine } from './sim-engine.js';
import type { World } from './world.js';

export class WorldWatch {
  readonly findings = new Set<string>();
  private readonly fullCopies = new Map<VolumeId, readonly ReplicaId[]>();
  private running = new Set<RebuildId>();
  private readonly purging = new Set<SimEngine>();
  private readonly repairs = new Set<string>();

  constructor(private readonly world: World) {
    world.onWakeUp = (wakeUp) => this.afterWakeUp(wakeUp);
    world.onTick = () => this.afterTick();
  }

  private async afterWakeUp(wakeUp: WakeUp): Promise<void> {
    if (wakeUp.kind === 'cluster') return this.watchLimits();
    const view = await this.world.store.loadVolume(wakeUp.volumeId);
    if (view === undefined) return;
    this.report(checkVolume(view).filter((finding) => !finding.includes('has two copies in one')));
    this.watchLastCopy(view);
    this.watchOfflineRebuild(view);
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
    // What has to leave its place is moved whether or not lost copies are rebuilt.
    const isMoved = replicas.some((replica) => isEvicting(replica, fleet, replicas));
    if (!isWanted && !isMoved)
      this.report([`volume ${volume.name} is attached for a rebuild that is not wanted`]);
  }

  private async afterTick(): Promise<void> {
    this.report(this.world.placementFindings);
    this.watchWriters();
    this.watchPurges(await this.settings());
    const { tables } = this.world.store;
    this.report(checkBookedSums([...tables.disks.values()], [...tables.replicas.values()]));
  }

  /** The last full copy of a volume only goes with the volume, or by failing. */
  private watchLastCopy({ volume, replicas }: VolumeView): void {
    const before = this.fullCopies.get(volume.id) ?? [];
    const now = replicas.filter(isHealthy).map(({ id }) => id);
    this.fullCopies.set(volume.id, now);
    const isGone = (id: ReplicaId) => !replicas.some((replica) => replica.id === id);
    if (now.length > 0 || isDeleting(volume) || before.length === 0 || !before.every(isGone)) return;
    this.report([`the last full copy of volume ${volume.name} was removed`]);
  }

  /** At most one engine of a volume may acknowledge writes; copies that it reads from hold the same. */
  private watchWriters(): void {
    const writers = new Map<VolumeId, number>();
    for (const node of this.world.nodes) {
      for (const engine of node.isAlive ? node.engines.values() : []) {
        const copies = engine.copiesInUse();
        if (!engine.isServing || copies === undefined) continue;
        writers.set(engine.volumeId, (writers.get(engine.volumeId) ?? 0) + 1);
        if (new Set(copies.map(checksumOf)).size > 1) {
          this.report([`copies of volume ${engine.volumeId} that are read from hold different contents`]);
        }
      }
    }
    for (const [volumeId, count] of writers) {
      if (count > 1) this.report([`${count} engines of volume ${volumeId} may acknowledge writes`]);
    }
  }

  /** No purge begins while purges are switched off. */
  private watchPurges(settings: { readonly 'disable-snapshot-purge': boolean }): void {
    const engines = this.world.nodes.flatMap((node) => (node.isAlive ? [...node.engines.values()] : []));
    for (const engine of engines) {
      if (!engine.layers.isBusy) this.purging.delete(engine);
      else if (!this.purging.has(engine)) {
        this.purging.add(engine);
        if (settings['disable-snapshot-purge'])
          this.report([`volume ${engine.volumeId} is purged while purges are off`]);
      }
    }
  }

  /** Of a rebuild that begins to run, or goes on after it was preempted, the limits hold that are in force then, with those that ran before it. */
  private async watchLimits(): Promise<void> {
    const settings = await this.settings();
    const running = [...this.world.store.tables.rebuilds.values()].filter(
      (rebuild) => rebuild.state === 'running' && !isPreempted(rebuild),
    );
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

  private async settings() {
    return (await this.world.store.loadFleet(this.world.clusterId)).settings;
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
