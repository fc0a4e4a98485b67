/**
 * Nodes of a simulated cluster with their contents: engines work, agents report changes. Without changes, an engine and an agent
 * would repeat their last results, so neither runs.
 */
import type { Store } from '@holdfast/control/ports/store.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId, NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { DirtyVolumes } from './dirty-volumes.js';
import type { SimCopy } from './sim-copy.js';
import type { EngineSurroundings, SimEngine } from './sim-engine.js';
import { SimNode, type SimNodeOptions } from './sim-node.js';

/** Access of nodes to their surroundings. */
type Outside = Pick<EngineSurroundings, 'failsRebuild' | 'workOf'> & {
  confirmRecord: Store['confirmRecord'];
  newId(): string;
  report(node: SimNode): Promise<void>;
};

export class SimFleet {
  readonly nodes: SimNode[] = [];
  /** Volumes whose engines or copies changed since the watchers last checked them. */
  readonly changed = new Set<VolumeId>();
  private readonly dirty = new DirtyVolumes();
  private readonly byId = new Map<NodeId, SimNode>();
  private readonly holders = new Map<ReplicaId, SimNode>();
  private atWork = new Set<SimEngine>();

  constructor(private readonly outside: Outside) {}

  add(name: string, options: SimNodeOptions): SimNode {
    const node = new SimNode(name, () => this.outside.newId(), options, {
      onNode: (changed) => this.stirNode(changed),
      onEngine: (volumeId) => this.stir(volumeId),
      onCopy: (holder, volumeId, replicaId) => this.copyChanged(holder, volumeId, replicaId),
    });
    this.nodes.push(node);
    return node;
  }

  nodeWith(id: NodeId): SimNode | undefined {
    return this.byId.get(id);
  }

  /**
   * The node that holds the files of a replica, whether or not it can be reached. Where a copy of its disk holds them too: the node that it is
   * known on.
   */
  holderOf({ id, nodeId }: Pick<Replica, 'id' | 'nodeId'>): SimNode | undefined {
    const known = nodeId === undefined ? undefined : this.byId.get(nodeId);
    return known?.copies.has(id) === true ? known : this.holders.get(id);
  }

  /** Engines of a volume on nodes that live; an engine of an older epoch may be among them. */
  enginesOf(volumeId: VolumeId): SimEngine[] {
    return this.nodes.flatMap((node) => (node.isAlive ? (node.engines.get(volumeId) ?? []) : []));
  }

  stir(volumeId: VolumeId): void {
    this.dirty.volumes.add(volumeId);
    this.changed.add(volumeId);
  }

  /** The rows of a volume changed: what its nodes report may mean something else now. */
  touch(volumeId: VolumeId): void {
    this.dirty.touched.add(volumeId);
  }

  stirAll(): void {
    for (const node of this.nodes) this.stirNode(node);
  }

  /** Nodes that have a disk with the identity of another node's. */
  doubles(): SimNode[] {
    const holders = new Map<DiskId, SimNode[]>();
    for (const node of this.nodes) {
      for (const { id } of node.disks) holders.set(id, [...(holders.get(id) ?? []), node]);
    }
    return [...new Set([...holders.values()].filter(({ length }) => length > 1).flat())];
  }

  /** The node reports with the next tick, whether or not it has news. */
  beat(node: SimNode): void {
    this.dirty.nodes.add(node);
  }

  get isStirred(): boolean {
    return !this.dirty.isEmpty;
  }

  /**
   * Runs engines and agents.
   *
   * @returns whether an engine is still working
   */
  async tick(): Promise<boolean> {
    const dirty = this.dirty.take();
    const reporting = new Set(this.nodes.filter((node) => dirty.concerns(node)));
    for (const { node, engine } of this.enginesToAsk(dirty)) {
      const wasAtWork = engine.isAtWork;
      await engine.tick();
      reporting.add(node);
      this.changed.add(engine.volumeId);
      if (engine.isAtWork) this.atWork.add(engine);
      else this.atWork.delete(engine);
      // Its changes on other nodes are reported by all of them, once.
      if (wasAtWork && !engine.isAtWork) this.stir(engine.volumeId);
    }
    for (const node of this.nodes) {
      const hasNews = reporting.has(node) || node.nodeId === undefined || node.hasToLetGo;
      if (node.isReachable && hasNews) await this.report(node);
    }
    return this.atWork.size > 0;
  }

  /** Agents that are heard, whether or not they have news. */
  heard(): NodeId[] {
    return this.nodes.flatMap((node) => (node.isReachable && node.nodeId !== undefined ? [node.nodeId] : []));
  }

  surroundingsOf(from: SimNode): EngineSurroundings {
    const { confirmRecord, failsRebuild, workOf } = this.outside;
    return {
      reach: (replicaId, nodeId) => this.reach(from, replicaId, nodeId),
      failsRebuild,
      workOf,
      isConnected: () => from.isConnected,
      confirmRecord: async (volumeId, record, grantId) => {
        if (!from.isConnected) throw new StorageFault('store.unavailable', { publicMessage: 'no answer' });
        await confirmRecord(volumeId, record, grantId, from.nodeId);
      },
    };
  }

  /** @param nodeId node of the copy, as it was sent to the engine */
  private reach(from: SimNode, replicaId: ReplicaId, nodeId: NodeId | undefined): SimCopy | undefined {
    const holder = nodeId === undefined ? this.holders.get(replicaId) : this.byId.get(nodeId);
    if (holder === undefined || !holder.isAlive) return undefined;
    const isCut = holder !== from && !(holder.isConnected && from.isConnected);
    return isCut ? undefined : holder.copy(replicaId);
  }

  private async report(node: SimNode): Promise<void> {
    await this.outside.report(node);
    if (node.nodeId !== undefined) this.byId.set(node.nodeId, node);
  }

  /** Engines that work, and those of changed volumes; each on its node while that is alive. */
  private enginesToAsk({ volumes }: DirtyVolumes): { node: SimNode; engine: SimEngine }[] {
    const working = new Set([...this.atWork].map(({ volumeId }) => volumeId));
    this.atWork = new Set();
    const asked = new Set([...working, ...volumes]);
    return this.nodes.flatMap((node) => {
      if (!node.isAlive || node.engines.size === 0) return [];
      return [...asked].flatMap((volumeId) => {
        const engine = node.engines.get(volumeId);
        return engine === undefined ? [] : [{ node, engine }];
      });
    });
  }

  private stirNode(node: SimNode): void {
    this.dirty.stir(node);
    for (const volumeId of node.engines.volumeIds()) this.changed.add(volumeId);
    for (const volumeId of node.copies.volumeIds()) this.changed.add(volumeId);
  }

  private copyChanged(node: SimNode, volumeId: VolumeId, replicaId: ReplicaId): void {
    // One that holds none of the volume any more has that to report.
    this.beat(node);
    if (node.copies.has(replicaId)) this.holders.set(replicaId, node);
    else if (this.holders.get(replicaId) === node) {
      const other = this.nodes.find(({ copies }) => copies.has(replicaId));
      if (other === undefined) this.holders.delete(replicaId);
      else this.holders.set(replicaId, other);
    }
    this.stir(volumeId);
  }
}
