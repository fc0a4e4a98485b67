/**
 * Stage of a run's faults: what they act on, and the acts that several kinds of faults share.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { Serving, SimControl } from '../sim-control.js';
import type { SimNet } from '../sim-net.js';
import type { SimNode } from '../sim-node.js';
import type { World } from '../world.js';

const USUAL_MS = [2, 2, 25] as const;

/** A fault that waits for a command of this name. */
type Awaited = { command: string; withinMs: number; happens: () => void };

export class FaultStage {
  /** Time of the last fault. */
  lastMs = 0;
  /** Users send no requests until then. */
  quietUntilMs = 0;
  hasEnded = false;
  /** Called when the next engine has opened its copies. */
  onOpened: () => void = () => undefined;
  /** Set by a fault that strikes when a copy has carried out a command. */
  awaited: Awaited | undefined;
  /** Maximum time of a disk call while nothing slows it. */
  private readonly usualMs: number;
  private readonly busyUntilMs = new Map<string, number>();

  constructor(
    readonly world: World,
    readonly net: SimNet,
    readonly nodes: readonly SimNode[],
    readonly control: SimControl,
  ) {
    this.usualMs = world.random.pick(USUAL_MS);
    this.atUsualSpeed();
    for (const node of nodes) node.disk.onFailure = () => this.lose(node);
    control.onOpened = () => {
      if (!this.hasEnded) this.onOpened();
      this.onOpened = () => undefined;
    };
  }

  get names(): string[] {
    return this.nodes.map(({ name }) => name);
  }

  get someNode(): SimNode {
    return this.world.random.pick(this.nodes);
  }

  lose(node: SimNode): void {
    const copy = this.control.copies.find((one) => one.node === node);
    if (copy === undefined) return;
    const { losses } = this.control;
    losses.set(copy.address.replicaId, (losses.get(copy.address.replicaId) ?? 0) + 1);
  }

  killHost(): void {
    const node = this.someNode;
    this.world.note(`  on ${node.name}`);
    this.killHostOf(node);
  }

  killEngine(): void {
    const serving = this.control.serving;
    if (serving === undefined) return;
    // The copy beside it dies with it.
    if (serving.life === serving.node.host) this.killHostOf(serving.node);
    else serving.life.kill();
  }

  private killHostOf(node: SimNode): void {
    if (node.isDown) return;
    this.lose(node);
    node.restartHost();
  }

  cut(node: SimNode): void {
    if (node.isDown) return;
    this.lose(node);
    node.powerCut();
    this.later(this.world.duration(500, 25_000), () => node.powerOn());
  }

  /** Notes a power cut of all machines that waited for its moment, and does it. */
  strike(what: string, keepsSome?: boolean): void {
    this.world.note(what);
    this.lastMs = this.world.nowMs;
    this.cutAll(keepsSome);
  }

  cutAll(keepsSome = this.world.random.chance(2)): void {
    for (const node of this.nodes) {
      if (node.isDown) continue;
      this.lose(node);
      node.powerCut(keepsSome);
      this.later(this.world.duration(500, 5_000), () => node.powerOn());
    }
  }

  /** Calls the awaited fault, soon after a copy has carried out its command. */
  carriedOut(name: string, node: string): void {
    const { awaited } = this;
    if (awaited?.command !== name || this.hasEnded) return;
    this.awaited = undefined;
    this.later(this.world.duration(0, awaited.withinMs), () => {
      this.world.note(`right after ${name} on ${node}`);
      this.lastMs = this.world.nowMs;
      awaited.happens();
    });
  }

  isolate(name: string, forMs: number): void {
    const others = [...this.names, 'control'].filter((other) => other !== name);
    for (const other of others) {
      this.net.cut(name, other);
      this.net.cut(other, name);
    }
    this.later(forMs, () => {
      for (const other of others) {
        this.net.heal(name, other);
        this.net.heal(other, name);
      }
    });
  }

  atUsualSpeed(): void {
    for (const { disk } of this.nodes) disk.slowestMs = this.usualMs;
  }

  /** In half of the cases users send no requests for a while: their writes would hide where copies differ. */
  restUsers(forMs: number): void {
    if (this.world.random.chance(2)) this.quietUntilMs = this.world.nowMs + forMs;
  }

  /** Long faults run one at a time: the end of another one would end this one too. */
  isBusyWith(fault: string, forMs: number): boolean {
    const { nowMs } = this.world;
    if (nowMs < (this.busyUntilMs.get(fault) ?? 0)) return true;
    this.busyUntilMs.set(fault, nowMs + forMs);
    return false;
  }

  later(ms: number, undo: () => void): void {
    this.world.after(ms, () => {
      if (!this.hasEnded) undo();
    });
  }
}

/**
 * Runs a user's work against an engine. If its process dies the work never ends: users see their connection break.
 */
export function untilDeath(serving: Serving, work: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    serving.life.onDeath(resolve);
    serving.life.later(0, () => {
      if (serving.engine.copies.stopReason !== undefined) resolve();
      else work().then(resolve, reject);
    });
  });
}

export function messageOf(error: unknown): string {
  if (isFault(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
