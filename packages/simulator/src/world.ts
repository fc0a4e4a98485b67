/**
 * A whole cluster in memory: nodes with agents, copies and engines, the real use cases and reconcilers over the
 * in-memory store, a virtual clock and one seed. Two runs with the same seed and the same calls are the same run.
 *
 * Time passes only in `run`; what nothing happens in is passed over. One tick is half a second: agents beat, engines work, the relay moves wake-ups to the
 * queue, workers empty it, and every tenth tick sweeps.
 */

import type { Clock } from '@holdfast/control/ports/clock.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { SWEEP_INTERVAL_MS, sweep } from '@holdfast/control/reconcilers/sweep.js';
import type { UseCasePorts } from '@holdfast/control/use-cases/use-case.js';
import { checkPlacement } from '@holdfast/core/checks/placement-invariants.js';
import { Bug, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import {
  asId,
  type ClusterId,
  type NodeId,
  type OrganizationId,
  type ProjectId,
  type ReplicaId,
} from '@holdfast/core/model/ids.js';
import { type FaultPlan, NO_FAULTS, ProcessDied, withFaults } from './faults.js';
import { nextMoment } from './next-moment.js';
import { SeededRandom } from './seeded-random.js';
import { SimAgentClient } from './sim-agent-client.js';
import { ANY_REBUILD, type EngineSurroundings, type RebuildWork } from './sim-engine.js';
import { SimNode, type SimNodeOptions } from './sim-node.js';
import { SimQueue } from './sim-queue.js';
import { MemoryStore } from './store/memory-store.js';
import type { ObservedPlacement } from './store/observed-placement.js';

const TICK_MS = 500;
/** Wake-ups worked off in one tick. A cluster that needs more in half a virtual second goes round in circles. */
const WAKE_UPS_PER_TICK_MAX = 2_000;

export class World {
  readonly random: SeededRandom;
  readonly store: MemoryStore;
  readonly nodes: SimNode[] = [];
  readonly clusterId: ClusterId;
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
  readonly clock: Clock = { now: () => new Date(this.nowMs) };
  readonly queue = new SimQueue(this.clock);
  /** What real clients and tests use: never disturbed by faults. */
  readonly useCases: UseCasePorts;
  /** Faults of the worker's calls; may be changed at any time. */
  faults: FaultPlan = NO_FAULTS;
  /** Called after each run of a reconciler, and after each tick, by what watches the world. */
  onWakeUp: (wakeUp: WakeUp) => Promise<void> = async () => undefined;
  onTick: () => Promise<void> = async () => undefined;
  /** What was wrong with replicas when they were given their places. */
  readonly placementFindings: string[] = [];
  /** What it takes to fill a copy that is to hold so much. */
  workOf: (heldBytes: number) => RebuildWork = () => ANY_REBUILD;
  /** Replicas whose next rebuilds fail, and how many of them. */
  readonly rebuildFaults = new Map<ReplicaId, number>();
  private isWorkerDown = false;
  private nowMs = Date.UTC(2026, 0, 1);
  private volumesHandled = 0;
  /** Copies, engines or nodes may have changed otherwise than by the work of an engine: all have to look around. */
  private isStirred = true;
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
    this.useCases = { store: this.store, clock: this.clock, random: this.random };
    this.agents = new SimAgentClient(
      (target) => this.nodes.find(({ nodeId }) => nodeId === target.id),
      (node) => this.surroundingsOf(node),
      () => {
        this.isStirred = true;
      },
    );
    this.reconcilers = this.startWorker();
  }

  /** By the limits, labels and switches of this moment: later ones may be others. */
  private judge(placement: ObservedPlacement): void {
    this.placementFindings.push(...checkPlacement({ ...placement, now: this.clock.now() }));
  }

  private startWorker(): ReconcilerPorts {
    const { store, agents, queue, clock, random } = this;
    const calm: ReconcilerPorts = { store, agents, queue, clock, random, startedAt: clock.now() };
    return withFaults(calm, () => this.faults);
  }

  addNode(name: string, options: SimNodeOptions = {}): SimNode {
    const node = new SimNode(name, () => this.random.id(), options);
    this.nodes.push(node);
    return node;
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

  /** Lets virtual time pass. */
  async run(seconds: number): Promise<void> {
    const untilMs = this.nowMs + seconds * 1000;
    let isStill = false;
    this.isStirred = true;
    while (this.nowMs < untilMs) {
      if (isStill) this.passOver(untilMs);
      isStill = await this.tick();
    }
  }

  /** Lets time pass until the condition holds; at most `seconds`. */
  async runUntil(holds: () => Promise<boolean>, seconds: number): Promise<boolean> {
    const untilMs = this.nowMs + seconds * 1000;
    let isStill = false;
    this.isStirred = true;
    while (!(await holds())) {
      if (this.nowMs >= untilMs) return false;
      if (isStill) this.passOver(untilMs);
      isStill = await this.tick();
    }
    return true;
  }

  /** Moves the clock to the tick before the next one in which something may happen. */
  private passOver(untilMs: number): void {
    const { nowMs, nodes } = this;
    const isSwept = nowMs % SWEEP_INTERVAL_MS === 0;
    const next = Math.min(nextMoment({ tables: this.store.tables, nodes, nowMs, isSwept }), untilMs);
    const ticks = Math.max(0, Math.ceil((next - this.nowMs) / TICK_MS) - 1);
    this.nowMs += ticks * TICK_MS;
  }

  /** @returns whether nothing has moved, so that the next tick would find the same */
  private async tick(): Promise<boolean> {
    const { commits } = this.store;
    this.volumesHandled = 0;
    this.nowMs += TICK_MS;
    const isAtWork = await this.tickNodes();
    if (!this.isWorkerDown) await this.work();
    const isStill =
      this.volumesHandled === 0 && this.store.commits === commits && !isAtWork && !this.isStirred;
    if (!isStill) await this.onTick();
    return isStill && !this.isWorkerDown && !this.queue.isWaiting;
  }

  /**
   * Engines work and agents beat. Where nothing was stirred, only engines at work change something, and an agent that has
   * nothing new to say is only heard.
   *
   * @returns whether an engine is at work
   */
  private async tickNodes(): Promise<boolean> {
    const isStirred = this.isStirred;
    this.isStirred = false;
    const silent: NodeId[] = [];
    let isAtWork = false;
    for (const node of this.nodes) {
      if (!node.isAlive) continue;
      let hasNews = isStirred;
      for (const engine of node.engines.values()) {
        const wasAtWork = engine.isAtWork;
        if (!isStirred && !wasAtWork) continue;
        await engine.tick();
        hasNews = true;
        isAtWork ||= engine.isAtWork;
        // What it has changed on other nodes is told by all of them, once.
        if (wasAtWork && !engine.isAtWork) this.isStirred = true;
      }
      if (!node.isConnected) continue;
      if (hasNews || node.nodeId === undefined) await this.beat(node);
      else silent.push(node.nodeId);
    }
    this.store.hear(silent, this.clock.now());
    return isAtWork;
  }

  private async work(): Promise<void> {
    if (this.nowMs % SWEEP_INTERVAL_MS === 0) await this.survive(() => sweep(this.reconcilers));
    await this.workOff();
  }

  private async beat(node: SimNode): Promise<void> {
    const { nodeId } = await this.store.recordHeartbeat(this.clusterId, node.heartbeat(), this.clock.now());
    node.nodeId = nodeId;
  }

  private async workOff(): Promise<void> {
    for (let count = 0; count < WAKE_UPS_PER_TICK_MAX; count += 1) {
      await this.relay();
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
      if (!this.faults.losesWakeUp()) await this.queue.wake(wakeUp);
    }
  }

  private async handle(wakeUp: WakeUp): Promise<void> {
    if (wakeUp.kind === 'cluster') await reconcileCluster(this.reconcilers, wakeUp.clusterId);
    else {
      this.volumesHandled += 1;
      await reconcileVolume(this.reconcilers, wakeUp.volumeId);
    }
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

  private surroundingsOf(from: SimNode): EngineSurroundings {
    return {
      reach: (replicaId: ReplicaId) => {
        const holder = this.nodes.find((node) => node.copies.has(replicaId));
        if (holder === undefined || !holder.isAlive) return undefined;
        const isCut = holder !== from && !(holder.isConnected && from.isConnected);
        return isCut ? undefined : holder.copy(replicaId);
      },
      failsRebuild: (replicaId) => {
        const left = this.rebuildFaults.get(replicaId) ?? 0;
        if (left > 0) this.rebuildFaults.set(replicaId, left - 1);
        return left > 0;
      },
      workOf: (heldBytes) => this.workOf(heldBytes),
      confirmRecord: async (volumeId, record, grantId) => {
        if (!from.isConnected) throw new StorageFault('store.unavailable', { publicMessage: 'no answer' });
        await this.store.confirmRecord(volumeId, record, grantId);
      },
    };
  }
}
