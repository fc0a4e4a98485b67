/**
 * A whole cluster in memory: nodes with agents, copies and engines, the real use cases and reconcilers over the
 * in-memory store, a virtual clock and one seed. Two runs with the same seed and the same calls are the same run.
 *
 * Time passes only in `run`; what nothing happens in is passed over. One tick is half a second: agents beat, engines work, the relay moves wake-ups to the
 * queue, workers empty it, and every tenth tick sweeps.
 */

import type { Clock } from '@holdfast/control/ports/clock.js';
import type { CopySecrets } from '@holdfast/control/ports/copy-secrets.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { SWEEP_INTERVAL_MS, sweep } from '@holdfast/control/reconcilers/sweep.js';
import type { UseCasePorts } from '@holdfast/control/use-cases/use-case.js';
import { checkGrowth, checkPlacement } from '@holdfast/core/checks/placement-invariants.js';
import { checkMove, checkOrphanRemoval } from '@holdfast/core/checks/switches.js';
import { nextTime } from '@holdfast/core/lifecycle/plan-volume-step.js';
import { Bug, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import {
  asId,
  type ClusterId,
  type DiskId,
  type NodeId,
  type OrganizationId,
  type ProjectId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { type FaultPlan, NO_FAULTS, ProcessDied, withFaults } from './faults.js';
import { isClusterTurning, type Moment, nextMoment } from './next-moment.js';
import { Quiescence } from './quiescence.js';
import { SeededRandom } from './seeded-random.js';
import { SimAgentClient } from './sim-agent-client.js';
import { ANY_REBUILD, type RebuildWork } from './sim-engine.js';
import { SimFleet } from './sim-fleet.js';
import type { SimNode, SimNodeOptions } from './sim-node.js';
import { SimQueue } from './sim-queue.js';
import { MemoryStore } from './store/memory-store.js';
import type { ObservedPlacement } from './store/observed-placement.js';

const TICK_MS = 500;
/** Pause between two reports of an agent. */
const BEAT_MS = 2_000;
/**
 * For so long after a change nodes with one disk twice report as often as real ones do: only this shows whether two exist at once.
 */
const DOUBLES_MS = 15_000;
/** A dozen sweeps. */
export const QUEUE_SETTLES_MS = 60_000;
/** Wake-ups worked off in one tick. A cluster that needs more in half a virtual second goes round in circles. */
const WAKE_UPS_PER_TICK_MAX = 2_000;

/** Nothing in a simulated cluster reads a secret; they only differ as real ones do. */
const COPY_SECRETS: CopySecrets = {
  forEngine: (key, { epoch, nodeId }) => `${key} at ${epoch} on ${nodeId}`,
  forSnapshot: (key, { snapshotId, nodeId }) => `${key} for ${snapshotId} on ${nodeId}`,
};

export class World {
  readonly random: SeededRandom;
  readonly store: MemoryStore;
  readonly fleet: SimFleet;
  readonly clusterId: ClusterId;
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
  readonly clock: Clock = { now: () => new Date(this.nowMs) };
  readonly queue = new SimQueue(this.clock);
  /** Calls of real clients and tests: never disturbed by faults. */
  readonly useCases: UseCasePorts;
  /** Faults of the worker's calls; may be changed at any time. */
  faults: FaultPlan = NO_FAULTS;
  /** Called after each run of a reconciler, and after each tick, by what watches the world. */
  onWakeUp: (wakeUp: WakeUp) => Promise<void> = async () => undefined;
  onTick: () => Promise<void> = async () => undefined;
  /** Violations when they happened: of places, bookings and removals of orphans. */
  readonly momentFindings: string[] = [];
  /** Work to fill a copy of this size. */
  workOf: (heldBytes: number) => RebuildWork = () => ANY_REBUILD;
  /** Writes of users that were acknowledged, by volume. */
  readonly acknowledged = new Map<VolumeId, ReadonlySet<number>>();
  /** Called once a volume holds its clone source. */
  readonly onFilled = new Map<VolumeId, () => void>();
  /** Replicas whose next rebuilds fail, and how many of them. */
  readonly rebuildFaults = new Map<ReplicaId, number>();
  private isWorkerDown = false;
  private nowMs = Date.UTC(2026, 0, 1);
  private volumesHandled = 0;
  private writesMade = 0;
  private readonly quiet = new Quiescence();
  private heardMs = 0;
  private doublesUntilMs = 0;
  private sharedChanges = 0;
  private queueChanges = 0;
  private queueChangedMs = 0;
  /** The ports of the reconcilers in the worker's present life, with the faults in them. */
  reconcilers: ReconcilerPorts;
  private readonly agents: SimAgentClient;

  constructor(seed = 1) {
    this.random = new SeededRandom(seed);
    this.store = new MemoryStore(this.random, (placement) => this.judge(placement));
    this.clusterId = asId<ClusterId>(this.random.id());
    this.organizationId = asId<OrganizationId>(this.random.id());
    this.projectId = asId<ProjectId>(this.random.id());
    this.store.createCluster(this.clusterId);
    this.store.onGrowth = (growth) => this.momentFindings.push(...checkGrowth(growth));
    this.store.isSettled = (volumeId, now) => this.quiet.isSettled(volumeId, now.getTime());
    this.useCases = { store: this.store, clock: this.clock, random: this.random };
    this.fleet = new SimFleet({
      newId: () => this.random.id(),
      report: (node) => this.recordReport(node),
      failsRebuild: (replicaId) => this.failsRebuild(replicaId),
      workOf: (heldBytes) => this.workOf(heldBytes),
      confirmRecord: (...record) => this.store.confirmRecord(...record),
    });
    this.agents = new SimAgentClient(
      ({ id }) => this.fleet.nodeWith(id),
      (node) => this.fleet.surroundingsOf(node),
      (volumeId) => this.fleet.stir(volumeId),
      {
        onOrphan: ({ replicaId }) => this.judgeOrphan(replicaId),
        engage: (node, diskId) => this.engage(node, diskId),
      },
    );
    this.reconcilers = this.startWorker();
  }

  private async recordReport(node: SimNode): Promise<void> {
    try {
      const answer = await this.store.recordHeartbeat(
        this.clusterId,
        node.heartbeat(this.nowMs),
        this.clock.now(),
      );
      node.nodeId = answer.nodeId;
      node.confirm(answer.stamps);
      node.obey(answer.disks);
    } catch (error) {
      if (!isFault(error, 'node.identity_refused')) throw error;
      // Its agent asks again, as real ones do.
      this.fleet.stirAll();
    }
  }

  /** Before a copy on a disk is opened, the control plane has stored a stamp that says so. */
  private async engage(node: SimNode, diskId: DiskId): Promise<void> {
    const disk = node.disks.find(({ id }) => id === diskId);
    if (disk === undefined || disk.stamp.isUsed) return;
    const { stamp } = disk;
    if (!stamp.isConfirmed) await this.recordReport(node);
    if (stamp.isConfirmed) {
      stamp.advance(this.nowMs);
      await this.recordReport(node);
    }
    if (!stamp.isConfirmed) {
      throw new StorageFault('disk.not_ready', {
        publicMessage: `the stamp of disk ${disk.name} is not confirmed`,
      });
    }
    stamp.isUsed = true;
  }

  private failsRebuild(replicaId: ReplicaId): boolean {
    const left = this.rebuildFaults.get(replicaId) ?? 0;
    if (left > 0) this.rebuildFaults.set(replicaId, left - 1);
    return left > 0;
  }

  /** By the limits, labels and switches of this moment: later ones may be others. */
  private judge({ reason, ...placement }: ObservedPlacement): void {
    const { volume, fleet } = placement;
    this.momentFindings.push(
      ...checkPlacement({ ...placement, now: this.clock.now() }),
      ...checkMove(reason, { volume, settings: fleet.settings }),
    );
  }

  /** By the rows of this moment: a replica that takes the id over later is refused by the store. */
  private judgeOrphan(replicaId: ReplicaId): void {
    const { clusters, orphans, replicas } = this.store.tables;
    const settings = clusters.get(this.clusterId)?.settings;
    const orphan = [...orphans.values()].find((one) => one.replicaId === replicaId);
    if (settings === undefined) return;
    const found = checkOrphanRemoval(
      { replicaId, removal: orphan?.removal },
      replicas.get(replicaId),
      settings,
    );
    this.momentFindings.push(...found);
  }

  /** True if the volume was reconciled since the last change that its plan depends on. */
  isSettled(volumeId: VolumeId): boolean {
    return this.quiet.isSettled(volumeId, this.nowMs);
  }

  /** True if the queue was reconciled often enough since it changed, whatever calls were lost. */
  get isQueueSettled(): boolean {
    return this.nowMs - this.queueChangedMs >= QUEUE_SETTLES_MS;
  }

  private startWorker(): ReconcilerPorts {
    const { store, agents, queue, clock, random } = this;
    const startedAt = clock.now();
    const calm: ReconcilerPorts = {
      store,
      agents,
      queue,
      clock,
      random,
      copySecrets: COPY_SECRETS,
      startedAt,
    };
    return withFaults(calm, () => this.faults);
  }

  get nodes(): readonly SimNode[] {
    return this.fleet.nodes;
  }

  /** The number of one more write. A clone holds writes of its source, so no volume's numbers are another one's too. */
  nextWrite(): number {
    this.writesMade += 1;
    return this.writesMade;
  }

  addNode(name: string, options: SimNodeOptions = {}): SimNode {
    return this.fleet.add(name, options);
  }

  node(name: string): SimNode {
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new Bug(`the world has no node ${name}`);
    return node;
  }

  nodeId(name: string): NodeId {
    const { nodeId } = this.node(name);
    if (nodeId === undefined) throw new Bug(`node ${name} has not reported yet`);
    return nodeId;
  }

  startNode(name: string): void {
    this.node(name).start(this.random.id());
  }

  /** A fault comes after a report of the node: agents report every few seconds. */
  async beforeFault(node: SimNode): Promise<void> {
    if (node.isReachable) await this.recordReport(node);
    this.watchDoubles();
  }

  /** Two disks of one identity are judged by what both nodes go on reporting. */
  watchDoubles(): void {
    this.doublesUntilMs = this.nowMs + DOUBLES_MS;
  }

  private get isWatchingDoubles(): boolean {
    return this.nowMs < this.doublesUntilMs && this.fleet.doubles().length > 0;
  }

  backUp(): void {
    this.store.backUp();
  }

  /** The database is lost, and only the last backup is left; a worker is started on it. */
  restore(): void {
    this.store.restore(this.clock.now());
    this.reconcilers = this.startWorker();
    this.fleet.stirAll();
  }

  /** Agents and worker are stopped for a while; then there is a worker again, and agents once they are started. */
  standStill(seconds: number): void {
    for (const node of this.nodes) node.kill();
    this.nowMs += seconds * 1000;
    this.reconcilers = this.startWorker();
  }

  /** Time passes and agents live, while no worker sweeps or works off what waits. */
  async runWithoutWorker(seconds: number): Promise<void> {
    this.isWorkerDown = true;
    await this.run(seconds);
    this.isWorkerDown = false;
    this.reconcilers = this.startWorker();
  }

  /** Advances virtual time. Everything runs first: manual changes are noticed too. */
  async run(seconds: number): Promise<void> {
    this.fleet.stirAll();
    await this.advance(seconds);
  }

  /** Advances virtual time. Changes without a notification are not noticed. */
  async advance(seconds: number): Promise<void> {
    const untilMs = this.nowMs + seconds * 1000;
    let isStill = false;
    while (this.nowMs < untilMs) {
      if (isStill) this.passOver(untilMs);
      isStill = await this.tick();
    }
  }

  /** Lets time pass until the condition holds; at most `seconds`. */
  async runUntil(holds: () => Promise<boolean>, seconds: number): Promise<boolean> {
    const untilMs = this.nowMs + seconds * 1000;
    let isStill = false;
    this.fleet.stirAll();
    while (!(await holds())) {
      if (this.nowMs >= untilMs) return false;
      if (isStill) this.passOver(untilMs);
      isStill = await this.tick();
    }
    return true;
  }

  /** Moves the clock to the tick before the next one in which something may happen. */
  private passOver(untilMs: number): void {
    const next = Math.min(nextMoment(this.moment()), this.queue.nextMs ?? untilMs, untilMs);
    const ticks = Math.max(0, Math.ceil((next - this.nowMs) / TICK_MS) - 1);
    this.nowMs += ticks * TICK_MS;
  }

  private moment(): Moment {
    const { nowMs, nodes, quiet, queueChangedMs, store } = this;
    return { tables: store.tables, nodes, nowMs, quiet, queueChangedMs };
  }

  /** @returns whether nothing has moved, so that the next tick would find the same */
  private async tick(): Promise<boolean> {
    const { changes } = this.store;
    this.volumesHandled = 0;
    this.nowMs += TICK_MS;
    this.noteChanges();
    const isSweep = this.nowMs % SWEEP_INTERVAL_MS === 0;
    const isDoubled = this.isWatchingDoubles;
    if (isDoubled && this.nowMs % BEAT_MS === 0)
      for (const node of this.fleet.doubles()) this.fleet.beat(node);
    const isAtWork = await this.fleet.tick();
    if (isSweep) this.hear();
    if (!this.isWorkerDown) await this.work(isSweep);
    const isChanged = this.store.changes !== changes || isAtWork || this.fleet.isStirred;
    this.noteChanges();
    if (!isChanged && isSweep && !this.isWorkerDown) this.quiet.sweptMs = this.nowMs;
    if (isChanged || this.volumesHandled > 0) await this.onTick();
    return !isChanged && !isDoubled && !this.isWorkerDown && !this.queue.isWaiting;
  }

  /** Asked before a tick too: what users did since the last one counts. */
  private noteChanges(): void {
    const { sharedChanges, queueChanges } = this.store;
    if (sharedChanges !== this.sharedChanges) this.quiet.disturbAll(this.nowMs);
    if (queueChanges !== this.queueChanges) this.queueChangedMs = this.nowMs;
    this.sharedChanges = sharedChanges;
    this.queueChanges = queueChanges;
  }

  private hear(): void {
    this.store.hear(this.fleet.heard(), this.clock.now());
    this.heardMs = this.nowMs;
  }

  private async work(isSweep: boolean): Promise<void> {
    if (isSweep) await this.survive(() => sweep(this.reconcilers));
    await this.workOff();
  }

  private async workOff(): Promise<void> {
    for (let count = 0; count < WAKE_UPS_PER_TICK_MAX; count += 1) {
      if (this.store.hasWakeUps) await this.relay();
      const wakeUp = this.queue.take();
      if (wakeUp === undefined) return;
      const workers = this.faults.runsTwice() ? 2 : 1;
      const runs = Array.from({ length: workers }, () => this.survive(() => this.handle(wakeUp)));
      const isDone = (await Promise.all(runs)).every(Boolean);
      await this.onWakeUp(wakeUp);
      // A worker that dies leaves its job to be delivered again.
      if (!isDone) await this.queue.wake(wakeUp);
    }
    throw new Bug(`more than ${WAKE_UPS_PER_TICK_MAX} wake-ups in one tick`);
  }

  private async relay(): Promise<void> {
    for (const wakeUp of this.store.takeWakeUps()) {
      if (wakeUp.kind === 'volume') {
        this.fleet.touch(wakeUp.volumeId);
        this.quiet.disturb(wakeUp.volumeId, this.nowMs);
      }
      if (!this.faults.losesWakeUp()) await this.queue.wake(wakeUp);
    }
  }

  private async handle(wakeUp: WakeUp): Promise<void> {
    if (wakeUp.kind === 'cluster') await this.handleCluster(wakeUp.clusterId);
    else {
      this.volumesHandled += 1;
      await this.handleVolume(wakeUp.volumeId);
    }
  }

  /** In a cluster that is quiet it is not asked with every sweep. */
  private async handleCluster(clusterId: ClusterId): Promise<void> {
    const { changes } = this.store;
    if (!isClusterTurning(this.moment()) && this.quiet.isClusterSettled(changes, this.nowMs)) return;
    await reconcileCluster(this.reconcilers, clusterId);
    if (this.store.changes === changes) this.quiet.noteCluster(changes, this.nowMs);
  }

  /** In a cluster that is quiet it is remembered when the volume's plan may change by time alone. */
  private async handleVolume(volumeId: VolumeId): Promise<void> {
    const { changes } = this.store;
    const outcome = await reconcileVolume(this.reconcilers, volumeId);
    if (outcome.did === 'gone' || this.store.changes !== changes) return;
    const isRefused = outcome.did === 'waiting';
    if (!this.quiet.isWorthNoting(volumeId, isRefused, this.nowMs, this.heardMs)) return;
    const view = await this.store.loadVolume(volumeId);
    if (view !== undefined)
      this.quiet.note(volumeId, nextTime(view, this.clock.now()), isRefused, this.nowMs);
  }

  /** A worker process that dies is started again, and a job that fails is repeated; memory of it is gone. */
  private async survive(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof ProcessDied) this.reconcilers = this.startWorker();
      else if (!isFault(error)) throw error;
      return false;
    }
  }
}
