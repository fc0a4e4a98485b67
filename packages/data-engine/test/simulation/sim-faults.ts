/**
 * Fault injection of a run: processes die or are paused, machines lose power, links are cut, disks fail, fill up or
 * are restored to an earlier state, control calls are lost, late or duplicated, the database loses commits; and
 * layers come and go meanwhile.
 */
import crypto from 'node:crypto';
import { isFault } from '@holdfast/core/model/faults.js';
import type { Serving, SimControl } from './sim-control.js';
import type { SimNet } from './sim-net.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** Weights: how often each kind occurs, relative to the others. */
const FAULTS = {
  killHost: 4,
  killEngine: 6,
  powerCut: 3,
  blackout: 3,
  blackoutWhenOwed: 2,
  blackoutInPurge: 2,
  blackoutAtPunch: 1,
  dieAtCommand: 3,
  cutAtSettle: 2,
  slowTakeover: 2,
  isolateEngine: 3,
  fullInRebuild: 2,
  commandStorm: 3,
  doubleInRebuild: 2,
  replaceLate: 2,
  holdCommand: 2,
  cutLink: 6,
  cutNode: 4,
  stopHost: 2,
  stopEngine: 2,
  syncFails: 3,
  writeFails: 1,
  readFails: 1,
  fillDisk: 3,
  slowDisk: 2,
  mischief: 4,
  loseCommits: 2,
  loseTakeover: 1,
  rollBack: 2,
  snapshot: 3,
  purge: 4,
};
type Fault = keyof typeof FAULTS;
/** User actions, never left out: without layers there is nothing to merge. */
const OF_USERS: readonly Fault[] = ['snapshot', 'purge'];

/** Maximum pause between two faults, one of these per run. */
const PAUSES_MS = [600, 3_000, 9_000] as const;
/** Commands that change a copy, or decide which engine may. */
const COMMANDS = [
  'open',
  'record',
  'snapshot',
  'mark-removed',
  'purge',
  'settle',
  'forget',
  'prepare',
  'pull',
] as const;
const USUAL_MS = [2, 2, 25] as const;

export class SimFaults {
  /** Time of the last fault. */
  lastMs = 0;
  private readonly snapshots: string[] = [];
  private readonly weights: Record<Fault, number>;
  /** Maximum time of a disk call while nothing slows it. */
  private readonly usualMs: number;
  private hasEnded = false;
  /** Called when the next engine has opened its copies. */
  private onOpened: () => void = () => undefined;
  private readonly busyUntilMs = new Map<Fault, number>();
  private isArmed = false;
  private isArmedForDebt = false;
  private isArmedForPunch = false;
  private isArmedForSettle = false;
  /** A fault that waits for a command of this name. */
  private awaited: { command: string; withinMs: number; happens: () => void } | undefined;
  /** Restoring two machines could leave no copy that knows the newer state. */
  private hasPutBack = false;
  /** Users send no requests until then. */
  quietUntilMs = 0;
  private backup: { row: ReturnType<SimControl['backup']>; epoch: number } | undefined;

  constructor(
    private readonly world: World,
    private readonly net: SimNet,
    private readonly nodes: readonly SimNode[],
    private readonly control: SimControl,
    private readonly limits: { readonly faultsMax: number; readonly only: readonly string[] },
  ) {
    this.weights = someOf(FAULTS, world, limits.only);
    this.usualMs = world.random.pick(USUAL_MS);
    this.atUsualSpeed();
    for (const node of nodes) {
      node.disk.onFailure = () => this.lose(node);
      node.disk.onPunch = () => this.punched();
    }
    net.onCommand = (name, node) => this.carriedOut(name, node);
    control.onOpened = () => {
      if (!this.hasEnded) this.onOpened();
      this.onOpened = () => undefined;
    };
  }

  /** One after the other, until the run has had enough of them. */
  async disturb(): Promise<void> {
    const { random } = this.world;
    const count = Math.min(this.limits.faultsMax, 3 + random.below(14));
    const pauseMs = random.pick(PAUSES_MS);
    for (let done = 0; done < count; done += 1) {
      await this.world.sleep(this.world.duration(20, pauseMs));
      const name = random.weighted(this.weights);
      this.world.note(name);
      if (!OF_USERS.includes(name)) this.lastMs = this.world.nowMs;
      this[name]();
    }
    await this.world.sleep(this.world.duration(100, 20_000));
  }

  /** Ends the injection; the caller heals whatever is still broken. */
  end(): void {
    this.hasEnded = true;
  }

  private get names(): string[] {
    return this.nodes.map(({ name }) => name);
  }

  private get someNode(): SimNode {
    return this.world.random.pick(this.nodes);
  }

  private lose(node: SimNode): void {
    const copy = this.control.copies.find((one) => one.node === node);
    if (copy === undefined) return;
    const { losses } = this.control;
    losses.set(copy.address.replicaId, (losses.get(copy.address.replicaId) ?? 0) + 1);
  }

  private readonly killHost = () => {
    const node = this.someNode;
    this.world.note(`  on ${node.name}`);
    if (node.isDown) return;
    this.lose(node);
    node.restartHost();
  };

  private readonly killEngine = () => {
    const serving = this.control.serving;
    serving?.life.kill();
  };

  private readonly powerCut = () => {
    const node = this.someNode;
    this.world.note(`  on ${node.name}`);
    this.cut(node);
  };

  private cut(node: SimNode): void {
    if (node.isDown) return;
    this.lose(node);
    node.powerCut();
    this.later(this.world.duration(500, 25_000), () => node.powerOn());
  }

  /** Power cut of all machines at once; mostly at the worst moment, when a flush has just been answered. */
  private readonly blackout = () => {
    if (this.world.random.chance(4)) this.cutAll();
    else this.isArmed = true;
  };

  /** Power cut at the next answered flush that finds a disk with older writes not yet durable. */
  private readonly blackoutWhenOwed = () => {
    this.isArmedForDebt = true;
  };

  /** Called for an answered flush that began at this time. */
  flushed(begunAtMs: number): void {
    if (this.hasEnded) return;
    if (this.isArmed) {
      this.isArmed = false;
      this.strike('blackout after a flush');
      return;
    }
    const isOwed = () => this.nodes.some(({ disk, isDown }) => !isDown && disk.owesSync(begunAtMs));
    if (!this.isArmedForDebt || !isOwed()) return;
    this.isArmedForDebt = false;
    this.strike('blackout after a flush that some disk has not made good', false);
  }

  private punched(): void {
    if (!this.isArmedForPunch || this.hasEnded) return;
    this.isArmedForPunch = false;
    this.later(this.world.duration(0, 2), () => this.strike('blackout after space was given back'));
  }

  private strike(what: string, keepsSome?: boolean): void {
    this.world.note(what);
    this.lastMs = this.world.nowMs;
    this.cutAll(keepsSome);
  }

  private cutAll(keepsSome = this.world.random.chance(2)): void {
    for (const node of this.nodes) {
      if (node.isDown) continue;
      this.lose(node);
      node.powerCut(keepsSome);
      this.later(this.world.duration(500, 5_000), () => node.powerOn());
    }
  }

  /** A snapshot, writes over it, its removal, and a power cut while its blocks are freed. */
  private readonly blackoutInPurge = () => {
    this.snapshot();
    this.world.after(this.world.duration(20, 400), () => {
      this.purge();
      this.later(this.world.duration(1, 60), () => this.cutAll());
    });
  };

  /** The same, with the power cut right after a block was freed. */
  private readonly blackoutAtPunch = () => {
    this.snapshot();
    this.world.after(this.world.duration(20, 400), () => {
      this.purge();
      this.isArmedForPunch = true;
    });
  };

  /** After a copy has carried out a command, the sender, the copy, or everything dies before the next step. */
  private readonly dieAtCommand = () => {
    const command = this.world.random.pick(COMMANDS);
    const dies = this.world.random.pick(['engine', 'host', 'all'] as const);
    this.world.note(`  ${command}: ${dies}`);
    this.awaited = {
      command,
      withinMs: this.world.random.pick([5, 1_000]),
      happens: () => {
        if (dies === 'engine') this.killEngine();
        else if (dies === 'host') this.killHost();
        else this.cutAll();
      },
    };
  };

  /** Power cut when a copy clears its marks while a disk has older writes not yet durable. */
  private readonly cutAtSettle = () => {
    this.isArmedForSettle = true;
  };

  private carriedOut(name: string, node: string): void {
    if (name === 'forget') this.forgotten();
    const { awaited } = this;
    if (awaited?.command !== name || this.hasEnded) return;
    this.awaited = undefined;
    this.later(this.world.duration(0, awaited.withinMs), () => {
      this.world.note(`right after ${name} on ${node}`);
      this.lastMs = this.world.nowMs;
      awaited.happens();
    });
  }

  private forgotten(): void {
    const owing = this.nodes.filter(({ disk, isDown }) => !isDown && disk.owesSync(this.world.nowMs));
    if (!this.isArmedForSettle || this.hasEnded || owing.length === 0) return;
    this.isArmedForSettle = false;
    const one = this.world.random.pick(owing);
    const isAll = this.world.random.chance(2);
    this.later(this.world.duration(0, 3), () => {
      this.world.note(`power is lost right after marks were forgotten${isAll ? '' : ` on ${one.name}`}`);
      this.lastMs = this.world.nowMs;
      if (isAll) this.cutAll();
      else this.cut(one);
    });
  }

  /** The next engine opens its copies slowly, so that much happens between its steps. */
  private readonly slowTakeover = () => {
    if (this.isBusyWith('slowTakeover', 60_000)) return;
    const { random } = this.world;
    // During resync each call takes almost as long as a copy may be silent; while opening, less.
    const isOpen = random.chance(2);
    const slowestMs = isOpen ? this.world.duration(2_500, 6_000) : this.world.duration(100, 3_000);
    const slowDown = () => {
      for (const { disk } of this.nodes) disk.slowestMs = slowestMs;
      this.later(this.world.duration(10_000, 40_000), () => this.atUsualSpeed());
    };
    if (isOpen) this.onOpened = slowDown;
    else slowDown();
    this.later(this.world.duration(20, 1_000), () => {
      if (random.chance(3)) this.killEngine();
      else this.cutAll(true);
      this.restUsers(80_000);
      if (random.chance(2)) {
        // The copies clear their marks one after the other.
        this.awaited = { command: 'forget', withinMs: slowestMs, happens: this.killEngine };
        return;
      }
      // Before the end of resync, if the copies are slow enough.
      this.later(this.world.duration(15_000, 30_000), this.killEngine);
    });
  };

  /** Isolates the engine: only its own node reaches it. In half of the runs users send no requests meanwhile. */
  private readonly isolateEngine = () => {
    const { serving } = this.control;
    if (serving === undefined) return;
    const cutMs = this.world.random.chance(2) ? 60_000 : this.world.duration(8_000, 60_000);
    if (this.isBusyWith('isolateEngine', cutMs)) return;
    const { name } = serving.node;
    if (this.world.random.chance(2)) {
      this.quietUntilMs = this.world.nowMs + cutMs / 2;
      this.isolate(name, cutMs);
      return;
    }
    // Right after it has lost another copy, before the control plane knows of that.
    const other = this.world.random.pick(this.nodes.filter((node) => node !== serving.node));
    if (other.isDown) return;
    this.lose(other);
    other.restartHost();
    this.later(this.world.duration(0.1, 4), () => this.isolate(name, cutMs));
  };

  /** The disks of complete copies are full, and that of a rebuild target is not. */
  private readonly fullInRebuild = () => {
    const target = this.someNode;
    if (target.isDown) return;
    this.world.note(`  of ${target.name}`);
    this.lose(target);
    target.restartHost();
    const untilMs = this.world.nowMs + 20_000;
    const others = this.nodes.filter((node) => node !== target);
    const watch = () => {
      if (this.hasEnded || this.world.nowMs > untilMs) return;
      const joining = this.control.serving?.engine.copies.withMode('WO') ?? [];
      if (joining.length === 0) {
        this.world.after(2, watch);
        return;
      }
      for (const { disk } of others) disk.isFull = true;
      target.disk.slowestMs = 200;
      this.later(this.world.duration(50, 3_000), () => {
        for (const { disk } of others) disk.isFull = false;
        this.atUsualSpeed();
      });
    };
    watch();
  };

  /** Control calls are late, duplicated and lost while much that they are for goes on. */
  private readonly commandStorm = () => {
    this.mischief();
    this.killHost();
    for (const change of [this.snapshot, this.purge, this.snapshot, this.purge])
      this.later(this.world.duration(10, 15_000), change);
    this.later(this.world.duration(10, 15_000), this.killEngine);
  };

  /** Every command of a rebuild is delivered twice, the second time perhaps long after its end. */
  private readonly doubleInRebuild = () => {
    this.killHost();
    this.net.isDoubling = true;
    this.later(this.world.duration(2_000, 12_000), () => {
      this.net.isDoubling = false;
    });
  };

  /** A copy is lost, and a worker that has decided to replace it acts when the copy may be current again. */
  private readonly replaceLate = () => {
    if (this.isBusyWith('replaceLate', 20_000)) return;
    const node = this.someNode;
    if (node.isDown) return;
    this.lose(node);
    node.restartHost();
    this.later(this.world.duration(100, 3_000), () => {
      this.control.replaceLate().catch((error: unknown) => {
        this.world.note(`  not replaced: ${messageOf(error)}`);
      });
    });
  };

  /** A command is delayed while the engine loses another copy, arrives late, and the engine dies. */
  private readonly holdCommand = () => {
    if (this.isBusyWith('holdCommand', 30_000)) return;
    const command = this.world.random.chance(3) ? this.world.random.pick(COMMANDS) : 'forget';
    this.world.note(`  ${command}`);
    this.net.hold(command, () => {
      this.world.note(`${command} is held up`);
      const cutMs = this.world.duration(0, 5_000);
      this.later(cutMs, () => this.cutEngineFromOne(40_000));
      const releaseMs = cutMs + this.world.duration(5, 3_000);
      this.world.after(releaseMs, () => this.net.release());
      if (this.world.random.chance(4)) return;
      this.later(releaseMs + this.world.duration(1, 500), () => {
        this.killEngine();
        this.restUsers(60_000);
      });
    });
    this.world.after(30_000, () => this.net.release());
  };

  private cutEngineFromOne(forMs: number): void {
    const { serving } = this.control;
    if (serving === undefined) return;
    const from = serving.node.name;
    const to = this.world.random.pick(this.names.filter((name) => name !== from));
    this.world.note(`  ${from} > ${to}`);
    this.net.cut(from, to);
    this.later(forMs, () => this.net.heal(from, to));
  }

  private readonly cutLink = () => {
    const names = [...this.names, 'control'];
    const from = this.world.random.pick(names);
    const to = this.world.random.pick(names.filter((name) => name !== from));
    this.world.note(`  ${from} > ${to}`);
    this.net.cut(from, to);
    this.later(this.world.duration(500, 40_000), () => this.net.heal(from, to));
  };

  private readonly cutNode = () => {
    const { name } = this.someNode;
    this.world.note(`  ${name}`);
    this.isolate(name, this.world.duration(500, 40_000));
  };

  private isolate(name: string, forMs: number): void {
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

  private readonly stopHost = () => this.someNode.host.stop(this.world.duration(100, 25_000));

  private readonly stopEngine = () => this.control.serving?.life.stop(this.world.duration(100, 40_000));

  private readonly syncFails = () => {
    this.someNode.disk.faults.sync = true;
  };

  private readonly writeFails = () => {
    this.someNode.disk.faults.write = true;
  };

  private readonly readFails = () => {
    this.someNode.disk.faults.read = true;
  };

  private readonly fillDisk = () => {
    const nodes = this.world.random.chance(2) ? this.nodes : [this.someNode];
    for (const { disk } of nodes) disk.isFull = true;
    this.later(this.world.duration(500, 25_000), () => {
      for (const { disk } of nodes) disk.isFull = false;
    });
  };

  private readonly slowDisk = () => {
    const { disk } = this.someNode;
    disk.slowestMs = this.world.duration(20, 4_000);
    this.later(this.world.duration(500, 20_000), () => this.atUsualSpeed());
  };

  private atUsualSpeed(): void {
    for (const { disk } of this.nodes) disk.slowestMs = this.usualMs;
  }

  private readonly mischief = () => {
    this.net.mischiefOneIn = 2 + this.world.random.below(8);
    this.later(this.world.duration(1_000, 30_000), () => {
      this.net.mischiefOneIn = 0;
    });
  };

  private readonly loseCommits = () => {
    const { control } = this;
    if (this.backup === undefined || this.world.random.chance(2)) {
      this.backup = { row: control.backup(), epoch: control.epoch };
      return;
    }
    this.world.note(`  back to epoch ${this.backup.epoch} from ${control.epoch}`);
    control.restore(this.backup.row);
    this.backup = undefined;
  };

  /** The database loses the grant of the serving engine. */
  private readonly loseTakeover = () => {
    const { control } = this;
    const { starts } = control;
    const backup = control.backup();
    this.killEngine();
    const watch = (leftMs: number) => {
      if (this.hasEnded || leftMs <= 0) return;
      if (control.starts === starts) {
        this.world.after(100, () => watch(leftMs - 100));
        return;
      }
      this.later(this.world.duration(100, 10_000), () => {
        // Failed attempts have used up epochs too.
        const epoch = control.epoch - 1;
        this.world.note(`back to epoch ${epoch} from ${control.epoch}`);
        this.lastMs = this.world.nowMs;
        control.restore({ ...backup, epoch });
      });
    };
    watch(60_000);
  };

  /** Restores a machine from an image of itself, taken during an attachment that another one has followed since. */
  private readonly rollBack = () => {
    const { control } = this;
    const node = this.someNode;
    if (node.isDown) return;
    const image = node.disk.image();
    const { starts } = control;
    this.later(this.world.duration(8_000, 60_000), () => {
      if (node.isDown || this.hasPutBack || control.starts < starts + 2) return;
      if (!control.canDoWithout(node)) return;
      this.hasPutBack = true;
      this.world.note(`${node.name} is put back to what it was`);
      this.lastMs = this.world.nowMs;
      // Without an engine it is only noticed at the next attachment.
      if (this.world.random.chance(2)) this.killEngine();
      this.lose(node);
      node.powerCut();
      node.disk.restore(image);
      node.powerOn();
    });
  };

  private readonly snapshot = () => {
    const serving = this.control.serving;
    if (serving === undefined) return;
    const id = crypto.randomUUID();
    const snapshot = { id, name: id, origin: 'user' as const, createdAt: new Date(0).toISOString() };
    void this.layers(serving, async ({ snapshots }) => {
      await snapshots.take(snapshot);
      this.snapshots.push(id);
    });
  };

  private readonly purge = () => {
    const serving = this.control.serving;
    if (serving === undefined) return;
    const id = this.snapshots.shift();
    void this.layers(serving, async ({ snapshots }) => {
      if (id !== undefined) await snapshots.remove(id);
      await snapshots.purge();
    });
  };

  private layers(serving: Serving, work: (engine: Serving['engine']) => Promise<void>): Promise<void> {
    return untilDeath(serving, () => work(serving.engine)).catch((error: unknown) => {
      this.world.note(`  refused: ${messageOf(error)}`);
    });
  }

  /** In half of the cases users send no requests for a while: their writes would hide where copies differ. */
  private restUsers(forMs: number): void {
    if (this.world.random.chance(2)) this.quietUntilMs = this.world.nowMs + forMs;
  }

  /** Long faults run one at a time: the end of another one would end this one too. */
  private isBusyWith(fault: Fault, forMs: number): boolean {
    const { nowMs } = this.world;
    if (nowMs < (this.busyUntilMs.get(fault) ?? 0)) return true;
    this.busyUntilMs.set(fault, nowMs + forMs);
    return false;
  }

  private later(ms: number, undo: () => void): void {
    this.world.after(ms, () => {
      if (!this.hasEnded) undo();
    });
  }
}

/** Limits a run to some kinds of faults: runs that repeat one kind are as likely as runs with a few of each. */
function someOf(
  weights: Record<Fault, number>,
  world: World,
  only: readonly string[],
): Record<Fault, number> {
  // The cast: the keys of a record of Fault are faults.
  const names = Object.keys(weights) as Fault[];
  const unknown = only.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined)
    throw new RangeError(`there is no fault ${unknown}; there are ${names.join(', ')}`);
  if (only.length === 0 && world.random.chance(4)) return weights;
  const isKept = (name: Fault) =>
    only.length > 0 ? only.includes(name) : OF_USERS.includes(name) || world.random.chance(3);
  const kept = names.filter(isKept);
  return Object.fromEntries(names.map((name) => [name, kept.includes(name) ? weights[name] : 0])) as Record<
    Fault,
    number
  >;
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
