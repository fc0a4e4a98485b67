/**
 * One run: a volume with two or three copies, users who write, flush and read, and whatever can happen to disks, processes,
 * links, commands and the database. The seed decides everything. In the end all faults are over, and the copies have to
 * become equal and hold what was promised.
 */
import crypto from 'node:crypto';
import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { contiguous } from '../../src/nbd/export.js';
import { Replica } from '../../src/replica/replica.js';
import { BlockHistory, type Floors } from './block-history.js';
import { type Placed, type Serving, SimControl } from './sim-control.js';
import { SimNet } from './sim-net.js';
import { SimNode } from './sim-node.js';
import { World } from './world.js';

const BLOCK_BYTES = 4096;
const MIB = 1024 * 1024;
/** A whole region and a short one: what is compared after a crash is compared by regions. */
const SIZE_BYTES = 17 * MIB;
const SECRET = 'a-secret-of-sixteen';
/** Where users write: a few blocks in each region, some of them side by side. */
const SPOTS = [0, 1, 2, 300, 301, 1023, 1024, 2500, 4095, 4096, 4097, 4200, 4351];
/** A second more than the lease of an engine. */
const LEASE_ENDS_MS = 9_000;
const RUN_MS_MAX = 3_600_000;
/** Faults are not blamed for what happens so long after the last one. */
const AFTERMATH_MS = 90_000;

export type Outcome = {
  readonly failure: string | undefined;
  readonly story: readonly string[];
  readonly events: number;
};

/** How many of each fault, at most; shrinking a failing seed takes some away. */
export type Limits = { readonly faultsMax: number };

export async function simulate(seed: number, limits: Limits = { faultsMax: 1_000 }): Promise<Outcome> {
  const world = new World(seed);
  const ids = seededIds(world);
  try {
    const run = new SimRun(world, limits);
    await world.run(run.all(), RUN_MS_MAX);
    return { failure: undefined, story: world.story, events: world.events };
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failure, story: world.story, events: world.events };
  } finally {
    ids.restore();
  }
}

const FAULTS = {
  killHost: 4,
  killEngine: 6,
  powerCut: 3,
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
  rollBack: 2,
  snapshot: 3,
  purge: 4,
} as const;

class SimRun {
  private readonly net: SimNet;
  private readonly nodes = new Map<string, SimNode>();
  private readonly history = new BlockHistory(SPOTS.length);
  private control: SimControl | undefined;
  private lastFaultMs = 0;
  private ended = false;
  private failure: Error | undefined;
  private snapshots: string[] = [];
  private backup: { row: ReturnType<SimControl['backup']>; epoch: number } | undefined;

  constructor(
    private readonly world: World,
    private readonly limits: Limits,
  ) {
    this.net = new SimNet(world);
  }

  async all(): Promise<void> {
    const { world } = this;
    const kind = world.random.chance(3) ? 'block' : 'folder';
    const count = world.random.chance(3) ? 2 : 3;
    for (let index = 1; index <= count; index += 1) {
      const name = `node-${index}`;
      this.nodes.set(name, new SimNode(name, world, this.net, kind, this.nodes));
    }
    world.note(`${count} copies on ${kind} disks`);
    const control = await this.create();
    this.control = control;
    const running = control.run();
    running.catch((error: unknown) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
    });
    const users = [1, 2, 3].map((number) => this.user(number));
    const faults = this.disturb();
    await Promise.all([...users, faults]);
    await this.heal();
    await running;
  }

  private async create(): Promise<SimControl> {
    const volumeId = crypto.randomUUID();
    const nodes = [...this.nodes.values()];
    const ids = nodes.map(() => crypto.randomUUID() as ReplicaId).sort();
    const record = copyRecord(0, 0, ids);
    const copies: Placed[] = [];
    for (const [index, node] of nodes.entries()) {
      const replicaId = ids[index] ?? crypto.randomUUID();
      const spec = {
        replicaId,
        volumeId,
        diskId: volumeId,
        sizeBytes: SIZE_BYTES,
        secret: SECRET,
        record: record as CopyRecord,
      };
      await Replica.create(node.name, spec, () => node.openDisk(node.host));
      const address = {
        replicaId,
        nodeId: node.name,
        controlUrl: node.name,
        nbdHost: node.name,
        nbdPort: 1,
        secret: SECRET,
      };
      copies.push({ address, node });
    }
    const volume = { volumeId, sizeBytes: SIZE_BYTES };
    return new SimControl(this.world, this.net, nodes, copies, volume, record, (keepsAll) => {
      if (!keepsAll) this.history.lost();
    });
  }

  // What users do

  private async user(number: number): Promise<void> {
    const { random } = this.world;
    for (let done = 0; done < 60 && !this.ended; done += 1) {
      await this.world.sleep(this.world.duration(1, random.chance(12) ? 12_000 : 600));
      if (random.chance(6)) await this.readFromReplaced();
      const serving = this.control?.serving;
      if (serving === undefined || !serving.life.isAlive) continue;
      const what = random.weighted({ write: 10, read: 6, flush: 4 });
      try {
        await this.untilDeath(serving, () => this[what](serving));
      } catch (error) {
        if (error instanceof Wrong) throw error;
        this.world.note(`user ${number}: ${what} fails: ${messageOf(error)}`);
        this.blame(error);
      }
    }
  }

  /** An error of a user's request needs a fault that explains it. */
  private blame(error: unknown): void {
    const quietMs = this.world.nowMs - this.lastFaultMs;
    if (quietMs > AFTERMATH_MS)
      throw new Wrong(`no fault for ${quietMs / 1000} s explains: ${messageOf(error)}`);
  }

  /** The work of a process that dies never ends: users see their connection break. */
  private untilDeath(serving: Serving, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      serving.life.onDeath(resolve);
      serving.life.later(0, () => {
        if (serving.engine.copies.stopReason !== undefined) resolve();
        else work().then(resolve, reject);
      });
    });
  }

  private async write({ engine }: Serving): Promise<void> {
    const { random } = this.world;
    const first = random.below(SPOTS.length);
    const spots = [first];
    while (random.chance(2) && SPOTS[first + spots.length] === (SPOTS[first] ?? 0) + spots.length)
      spots.push(first + spots.length);
    const numbers = spots.map((spot) => this.history.writing(spot));
    const bytes = Buffer.concat(spots.map((spot, index) => blockOf(spot, numbers[index] ?? 0)));
    const fua = random.chance(6);
    const { loss } = this.history;
    await engine.device.write((SPOTS[first] ?? 0) * BLOCK_BYTES, [bytes], bytes.length, { fua });
    // An answer of an engine that has been replaced meanwhile may come from before a loss.
    if (loss !== this.history.loss && !fua) return;
    for (const [index, spot] of spots.entries()) this.history.wrote(spot, numbers[index] ?? 0, fua);
  }

  private async flush({ engine }: Serving): Promise<void> {
    const covered = this.history.floors();
    const { loss } = this.history;
    await engine.device.flush();
    if (loss === this.history.loss) this.history.flushed(covered);
  }

  private async read(serving: Serving): Promise<void> {
    await this.readSpot(serving, this.world.random.below(SPOTS.length));
  }

  private async readSpot({ engine, epoch }: Serving, spot: number): Promise<void> {
    const atBegin = this.history.floors();
    const { loss } = this.history;
    const at = (SPOTS[spot] ?? 0) * BLOCK_BYTES;
    const payload = await engine.device.read(at, BLOCK_BYTES);
    const bytes = Buffer.from(contiguous(payload));
    payload.release?.();
    this.control?.noteLost();
    const isOld = this.control?.serving?.epoch !== epoch;
    this.check(spot, bytes, loss === this.history.loss ? atBegin : [], isOld);
  }

  /** Whoever is still connected to an engine that another one has replaced gets no answers once its lease has ended. */
  private async readFromReplaced(): Promise<void> {
    const replaced = this.control?.replaced;
    if (replaced === undefined || !replaced.serving.life.isAlive) return;
    const { engine } = replaced.serving;
    const hasEnded = this.world.nowMs > replaced.atMs + LEASE_ENDS_MS;
    if (!hasEnded || engine.copies.stopReason !== undefined) return;
    const read = engine.device.read(
      (SPOTS[this.world.random.below(SPOTS.length)] ?? 0) * BLOCK_BYTES,
      BLOCK_BYTES,
    );
    const wasAnswered = await Promise.race([
      read.then(
        () => true,
        () => false,
      ),
      this.world.sleep(3_000).then(() => false),
    ]);
    if (wasAnswered)
      throw new Wrong(`engine ${replaced.serving.epoch} answers reads long after it was replaced`);
  }

  private check(spot: number, bytes: Buffer, atBegin: Floors, isOld: boolean): void {
    const write = numberIn(bytes, spot);
    if (write === undefined) throw new Wrong(`block ${spot} is torn, or another block's`);
    // What a replaced engine answers is as old as its lease at most; nothing may be concluded from it.
    if (isOld) return;
    const violation = this.history.read(spot, write, atBegin);
    if (violation !== undefined) throw new Wrong(`block ${violation.block} ${violation.what}`);
  }

  // What goes wrong

  private async disturb(): Promise<void> {
    const { random } = this.world;
    const count = Math.min(this.limits.faultsMax, 3 + random.below(14));
    for (let done = 0; done < count; done += 1) {
      await this.world.sleep(this.world.duration(20, 9_000));
      const name = random.weighted(FAULTS);
      this.world.note(name);
      if (name !== 'snapshot' && name !== 'purge') this.lastFaultMs = this.world.nowMs;
      this[name]();
    }
    await this.world.sleep(this.world.duration(100, 20_000));
  }

  private get someNode(): SimNode {
    return this.world.random.pick([...this.nodes.values()]);
  }

  private lose(node: SimNode): void {
    const copy = this.control?.copies.find((one) => one.node === node);
    const losses = this.control?.losses;
    if (copy === undefined || losses === undefined) return;
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
    const serving = this.control?.serving;
    serving?.life.kill();
  };

  private readonly powerCut = () => {
    const node = this.someNode;
    this.world.note(`  on ${node.name}`);
    if (node.isDown) return;
    this.lose(node);
    node.powerCut();
    this.later(this.world.duration(500, 25_000), () => node.powerOn());
  };

  private readonly cutLink = () => {
    const names = [...this.nodes.keys(), 'control'];
    const from = this.world.random.pick(names);
    const to = this.world.random.pick(names.filter((name) => name !== from));
    this.world.note(`  ${from} > ${to}`);
    this.net.cut(from, to);
    this.later(this.world.duration(500, 40_000), () => this.net.heal(from, to));
  };

  private readonly cutNode = () => {
    const { name } = this.someNode;
    this.world.note(`  ${name}`);
    const others = [...this.nodes.keys(), 'control'].filter((other) => other !== name);
    for (const other of others) {
      this.net.cut(name, other);
      this.net.cut(other, name);
    }
    this.later(this.world.duration(500, 40_000), () => {
      for (const other of others) {
        this.net.heal(name, other);
        this.net.heal(other, name);
      }
    });
  };

  private readonly stopHost = () => this.someNode.host.stop(this.world.duration(100, 25_000));

  private readonly stopEngine = () => this.control?.serving?.life.stop(this.world.duration(100, 40_000));

  private readonly syncFails = () => {
    const node = this.someNode;
    this.lose(node);
    node.disk.faults.sync = true;
  };

  private readonly writeFails = () => {
    this.someNode.disk.faults.write = true;
  };

  private readonly readFails = () => {
    this.someNode.disk.faults.read = true;
  };

  private readonly fillDisk = () => {
    const nodes = this.world.random.chance(2) ? [...this.nodes.values()] : [this.someNode];
    for (const { disk } of nodes) disk.isFull = true;
    this.later(this.world.duration(500, 25_000), () => {
      for (const { disk } of nodes) disk.isFull = false;
    });
  };

  private readonly slowDisk = () => {
    const { disk } = this.someNode;
    disk.slowestMs = this.world.duration(20, 4_000);
    this.later(this.world.duration(500, 20_000), () => {
      disk.slowestMs = 2;
    });
  };

  private readonly mischief = () => {
    this.net.mischiefOneIn = 2 + this.world.random.below(8);
    this.later(this.world.duration(1_000, 30_000), () => {
      this.net.mischiefOneIn = 0;
    });
  };

  private readonly loseCommits = () => {
    const { control } = this;
    if (control === undefined) return;
    if (this.backup === undefined || this.world.random.chance(2)) {
      this.backup = { row: control.backup(), epoch: control.epoch };
      return;
    }
    this.world.note(`  back to epoch ${this.backup.epoch} from ${control.epoch}`);
    control.restore(this.backup.row);
    this.backup = undefined;
  };

  /** A machine is put back to an image of itself, from an attachment that another one has followed since. */
  private readonly rollBack = () => {
    const { control } = this;
    const node = this.someNode;
    if (control === undefined || node.isDown) return;
    const image = node.disk.image();
    const { starts } = control;
    this.later(this.world.duration(8_000, 60_000), () => {
      if (node.isDown || control.starts < starts + 2) return;
      this.world.note(`${node.name} is put back to what it was`);
      this.lastFaultMs = this.world.nowMs;
      this.lose(node);
      node.powerCut();
      node.disk.restore(image);
      node.powerOn();
    });
  };

  private readonly snapshot = () => {
    const serving = this.control?.serving;
    if (serving === undefined) return;
    const id = crypto.randomUUID();
    const snapshot = { id, name: id, origin: 'user' as const, createdAt: new Date(0).toISOString() };
    void this.layers(serving, async ({ snapshots }) => {
      await snapshots.take(snapshot);
      this.snapshots.push(id);
    });
  };

  private readonly purge = () => {
    const serving = this.control?.serving;
    if (serving === undefined) return;
    const id = this.snapshots.shift();
    void this.layers(serving, async ({ snapshots }) => {
      if (id !== undefined) await snapshots.remove(id);
      await snapshots.purge();
    });
  };

  private layers(serving: Serving, work: (engine: Serving['engine']) => Promise<void>): Promise<void> {
    return this.untilDeath(serving, () => work(serving.engine)).catch((error: unknown) => {
      this.world.note(`  refused: ${messageOf(error)}`);
    });
  }

  private later(ms: number, undo: () => void): void {
    this.world.after(ms, () => {
      if (!this.ended) undo();
    });
  }

  // How it has to end

  private async heal(): Promise<void> {
    this.ended = true;
    this.world.note('all faults are over');
    this.net.healAll();
    this.net.mischiefOneIn = 0;
    for (const node of this.nodes.values()) {
      node.disk.isFull = false;
      node.disk.slowestMs = 2;
      node.disk.faults = { read: false, write: false, sync: false };
      node.host.stop(0);
      for (const life of node.engines) life.stop(0);
      node.powerOn();
    }
    const serving = await this.healthy();
    this.world.note('healthy');
    await this.finish(serving);
    await this.compare();
  }

  /** Reads everything once more and detaches. An engine that was replaced just now leaves that to the next one. */
  private async finish(serving: Serving): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        for (const spot of SPOTS.keys()) await this.readSpot(serving, spot);
        if (this.control !== undefined) this.control.isStopping = true;
        await serving.engine.stop();
        return;
      } catch (error) {
        if (error instanceof Wrong || attempt === 10) throw error;
        serving = await this.healthy();
      }
    }
  }

  /** All copies current and equal, within a quarter of an hour. */
  private async healthy(): Promise<Serving> {
    const deadlineMs = this.world.nowMs + 900_000;
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const serving = this.control?.serving;
      if (
        serving?.life.isAlive &&
        serving.losses !== undefined &&
        serving.engine.copies.stopReason === undefined
      ) {
        const modes = this.control?.copies.map(
          ({ address }) => serving.engine.copies.find(address.replicaId)?.mode,
        );
        if (modes?.every((mode) => mode === 'RW') && !serving.engine.isRebuilding) return serving;
      }
      if (this.world.nowMs > deadlineMs) throw new Wrong(`it does not heal: ${this.describe(serving)}`);
      await this.world.sleep(500);
    }
  }

  private describe(serving: Serving | undefined): string {
    if (serving === undefined) return 'nothing serves';
    const { engine, life } = serving;
    const report = engine.report();
    return JSON.stringify({
      isAlive: life.isAlive,
      state: report.state,
      reason: report.reason,
      replicas: report.replicas,
      rebuilds: report.rebuilds.slice(-1),
    });
  }

  private async compare(): Promise<void> {
    const held: Buffer[][] = [];
    for (const { address, node } of this.control?.copies ?? []) {
      const { replica } = await (await node.copies(address.replicaId)).find(address.replicaId);
      const blocks: Buffer[] = [];
      for (const spot of SPOTS)
        blocks.push(Buffer.from(contiguous(await replica.read(spot * BLOCK_BYTES, BLOCK_BYTES))));
      held.push(blocks);
    }
    const [first, ...others] = held;
    for (const other of others) {
      const differs = other.findIndex((block, index) => !block.equals(first?.[index] ?? Buffer.alloc(0)));
      if (differs >= 0) throw new Wrong(`the copies differ in block ${differs} for good`);
    }
  }
}

/** A promise was broken: no error of a request. */
class Wrong extends Error {}

function messageOf(error: unknown): string {
  if (isFault(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function blockOf(spot: number, write: number): Buffer {
  const stamp = Buffer.alloc(8);
  stamp.writeUInt32LE(spot + 1, 0);
  stamp.writeUInt32LE(write, 4);
  return Buffer.alloc(BLOCK_BYTES, stamp);
}

/** Which write the block shows; 0 for zeros, `undefined` for what no write has made. */
function numberIn(bytes: Buffer, spot: number): number | undefined {
  const write = bytes.readUInt32LE(4);
  const expected = write === 0 ? Buffer.alloc(BLOCK_BYTES) : blockOf(spot, write);
  return bytes.equals(expected) ? write : undefined;
}

/** Ids are made by chance in the code under test, and order copies: they come from the seed too. */
function seededIds(world: World): { restore: () => void } {
  const real = {
    randomUUID: crypto.randomUUID,
    randomBytes: crypto.randomBytes,
    randomInt: crypto.randomInt,
  };
  const hex = (length: number) => Array.from({ length }, () => world.random.below(16).toString(16)).join('');
  const replaced = {
    randomUUID: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    randomBytes: (length: number) => Buffer.from(hex(2 * length), 'hex'),
    randomInt: (min: number, max: number) => min + world.random.below(Math.min(max - min, 2 ** 31)),
  };
  Object.assign(crypto, replaced);
  return { restore: () => void Object.assign(crypto, real) };
}
