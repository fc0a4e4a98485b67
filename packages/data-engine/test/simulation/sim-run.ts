/**
 * One simulated run: a volume with two or three copies, users who write, flush and read, and any fault of disks,
 * processes, links, commands and the database. The seed decides everything. At the end all faults are healed, and the
 * copies must become equal and hold what was promised.
 */
import crypto from 'node:crypto';
import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { ReplicaLink } from '../../src/engine/replica-link.js';
import { contiguous } from '../../src/nbd/export.js';
import { Replica } from '../../src/replica/replica.js';
import { BlockHistory, type Floors } from './block-history.js';
import { messageOf, untilDeath } from './faults/fault-stage.js';
import { type Placed, type Serving, SimControl } from './sim-control.js';
import { SimFaults } from './sim-faults.js';
import { SimNet } from './sim-net.js';
import { type DiskKind, SimNode } from './sim-node.js';
import { forgetMounts } from './sim-system.js';
import { World } from './world.js';

const BLOCK_BYTES = 4096;
const MIB = 1024 * 1024;
/** One whole region and a short one: resync works by regions. */
const SIZE_BYTES = 17 * MIB;
const SECRET = 'a-secret-of-sixteen';
/** Blocks that users write: a few in each region, some of them adjacent. */
const SPOTS = [0, 1, 2, 300, 301, 1023, 1024, 2500, 4095, 4096, 4097, 4200, 4351];
/** One second more than an engine's lease. */
const LEASE_ENDS_MS = 9_000;
const RUN_MS_MAX = 3_600_000;
/** Maximum pause between two requests of a user, one of these per run: busy runs have much concurrency. */
const PAUSES_MS = [6, 60, 600] as const;
/** Weighted kinds of requests; some users flush more often than they write. */
const REQUESTS = [
  { write: 10, read: 6, flush: 4, zero: 1 },
  { write: 4, read: 3, flush: 8, zero: 1 },
] as const;
const FEW_SPOTS = 3;
/** Maximum requests per user: enough to last while faults occur, and few enough for a thousand runs in a minute. */
const REQUESTS_MAX = 100;
/** More than any disk call takes. */
const LONGEST_CALL_MS = 10_000;
/** Time after the last fault during which errors are still attributed to it. */
const AFTERMATH_MS = 90_000;

export type Outcome = {
  readonly failure: string | undefined;
  readonly story: readonly string[];
  readonly events: number;
};

export type Limits = {
  /** Maximum number of faults; shrinking a failing seed lowers it. */
  readonly faultsMax: number;
  /** Kinds of faults; all if empty. */
  readonly only: readonly string[];
  /** Kind of the disks. */
  readonly disks: 'any' | DiskKind;
};

export async function simulate(seed: number, limits: Limits): Promise<Outcome> {
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
    forgetMounts();
  }
}

class SimRun {
  private readonly net: SimNet;
  private readonly nodes = new Map<string, SimNode>();
  private readonly history = new BlockHistory(SPOTS.length);
  private control: SimControl | undefined;
  private failure: Error | undefined;
  private readonly pauseMs: number;
  private readonly requests: (typeof REQUESTS)[number];
  /** Blocks that users write in this run: all, or a few over and over. */
  private readonly spots: readonly number[];
  private faults: SimFaults | undefined;
  /** Copies whose disk failed to sync while they counted, and the connection that they were used by. */
  private readonly failedLinks = new WeakMap<ReplicaLink, unknown>();

  constructor(
    private readonly world: World,
    private readonly limits: Limits,
  ) {
    this.net = new SimNet(world);
    this.pauseMs = world.random.pick(PAUSES_MS);
    this.requests = world.random.pick(REQUESTS);
    const first = world.random.below(SPOTS.length - FEW_SPOTS);
    const all = [...SPOTS.keys()];
    this.spots = world.random.chance(2) ? all : all.slice(first, first + FEW_SPOTS);
  }

  async all(): Promise<void> {
    const { world } = this;
    const { disks } = this.limits;
    const drawn = world.random.chance(3) ? 'block' : 'folder';
    const kind = disks === 'any' ? drawn : disks;
    const count = world.random.chance(3) ? 2 : 3;
    for (let index = 1; index <= count; index += 1) {
      const name = `node-${index}`;
      this.nodes.set(name, new SimNode(name, world, this.net, kind, this.nodes));
    }
    world.note(`${count} copies on ${kind} disks`);
    const control = await this.create();
    this.control = control;
    for (const node of this.nodes.values()) node.disk.onSyncFailed = () => this.noteFailedSync(node);
    const running = control.run();
    running.catch((error: unknown) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
    });
    const faults = new SimFaults(world, this.net, [...this.nodes.values()], control, this.limits);
    this.faults = faults;
    const users = [1, 2, 3].map((number) => this.user(number));
    await Promise.all([...users, faults.disturb()]);
    await this.heal();
    await running;
  }

  private async create(): Promise<SimControl> {
    const volumeId = asId<VolumeId>(crypto.randomUUID());
    const nodes = [...this.nodes.values()];
    const ids = nodes.map(() => asId<ReplicaId>(crypto.randomUUID())).sort();
    const record = copyRecord(0, 0, ids);
    const place = async (node: SimNode, replicaId: string, first: CopyRecord | null): Promise<Placed> => {
      const spec = {
        replicaId,
        volumeId,
        diskId: volumeId,
        sizeBytes: SIZE_BYTES,
        secret: SECRET,
        record: first,
      };
      await Replica.create(node.name, spec, () => node.openDisk(node.host));
      const address = {
        replicaId: asId<ReplicaId>(replicaId),
        nodeId: asId<NodeId>(node.name),
        controlUrl: node.name,
        nbdHost: node.name,
        nbdPort: 1,
        secret: SECRET,
      };
      return { address, node };
    };
    const copies: Placed[] = [];
    for (const [index, node] of nodes.entries())
      copies.push(await place(node, ids[index] ?? crypto.randomUUID(), record as CopyRecord));
    const volume = { volumeId, sizeBytes: SIZE_BYTES };
    return new SimControl(
      this.world,
      this.net,
      nodes,
      copies,
      volume,
      record,
      (keepsAll) => {
        if (!keepsAll) this.history.lost();
      },
      (node) => place(node, crypto.randomUUID(), null),
      (what) => {
        this.failure = new Wrong(what);
      },
    );
  }

  /**
   * A copy whose disk has failed to sync is no copy any more, for the engines that have it: only a rebuild makes it one again. The last one
   * may be opened anew, which shows what its disk has, where nothing acknowledged was to be stored.
   */
  private noteFailedSync(node: SimNode): void {
    const id = this.control?.copies.find((copy) => copy.node === node)?.address.replicaId;
    for (const serving of [this.control?.serving, this.control?.replaced?.serving]) {
      const link = id === undefined ? undefined : serving?.engine.copies.find(id);
      if (link?.mode === 'RW') this.failedLinks.set(link, link.client);
    }
  }

  private isFailed(link: ReplicaLink): boolean {
    return this.failedLinks.get(link) === link.client;
  }

  // What users do

  private async user(number: number): Promise<void> {
    const { random } = this.world;
    for (let done = 0; done < REQUESTS_MAX; done += 1) {
      await this.world.sleep(this.world.duration(1, random.chance(12) ? 12_000 : this.pauseMs));
      if (random.chance(6)) await this.readFromReplaced();
      const serving = this.control?.serving;
      if (serving === undefined || !serving.life.isAlive) continue;
      if (this.world.nowMs < (this.faults?.quietUntilMs ?? 0)) continue;
      const what = random.weighted(this.requests);
      try {
        await untilDeath(serving, () => this[what](serving));
      } catch (error) {
        if (error instanceof Wrong) throw error;
        this.world.note(`user ${number}: ${what} fails: ${messageOf(error)}`);
        this.blame(error);
      }
    }
  }

  /** Requires that an injected fault explains an error of a user's request. */
  private blame(error: unknown): void {
    const quietMs = this.world.nowMs - (this.faults?.lastMs ?? 0);
    if (quietMs > AFTERMATH_MS)
      throw new Wrong(`no fault for ${quietMs / 1000} s explains: ${messageOf(error)}`);
  }

  private async write({ engine }: Serving): Promise<void> {
    const { random } = this.world;
    const first = random.pick(this.spots);
    const spots = [first];
    while (random.chance(2) && SPOTS[first + spots.length] === (SPOTS[first] ?? 0) + spots.length)
      spots.push(first + spots.length);
    const numbers = spots.map((spot) => this.history.writing(spot));
    const bytes = Buffer.concat(spots.map((spot, index) => blockOf(spot, numbers[index] ?? 0)));
    const fua = random.chance(6);
    const { loss } = this.history;
    const begunAtMs = this.world.nowMs;
    await engine.device.write((SPOTS[first] ?? 0) * BLOCK_BYTES, [bytes], bytes.length, { fua });
    // An answer of an engine that was replaced meanwhile may come from before a loss.
    if (loss !== this.history.loss && !fua) return;
    for (const [index, spot] of spots.entries()) this.history.wrote(spot, numbers[index] ?? 0, fua);
    if (fua) this.faults?.flushed(begunAtMs);
  }

  /** Gives blocks up, or writes zeros over them: either way they read as zeros. */
  private async zero({ engine }: Serving): Promise<void> {
    const { random } = this.world;
    const spot = random.pick(this.spots);
    const number = this.history.zeroing(spot);
    const at = (SPOTS[spot] ?? 0) * BLOCK_BYTES;
    const { loss } = this.history;
    const fua = random.chance(6);
    if (random.chance(2)) await engine.device.trim(at, BLOCK_BYTES, { fua });
    else await engine.device.writeZeroes(at, BLOCK_BYTES, { fua, mayPunch: random.chance(2) });
    if (loss === this.history.loss || fua) this.history.wrote(spot, number, fua);
  }

  private async flush({ engine }: Serving): Promise<void> {
    const covered = this.history.floors();
    const { loss } = this.history;
    const begunAtMs = this.world.nowMs;
    const failed = engine.copies.withMode('RW').filter((link) => this.isFailed(link));
    await engine.device.flush();
    const counting = failed.find((link) => link.mode === 'RW' && this.isFailed(link));
    if (counting !== undefined)
      throw new Wrong(
        `a flush is answered, and copy ${counting.replicaId.slice(0, 4)} counts, whose disk has failed to sync`,
      );
    if (loss !== this.history.loss) return;
    this.history.flushed(covered);
    this.faults?.flushed(begunAtMs);
  }

  private async read(serving: Serving): Promise<void> {
    await this.readSpot(serving, this.world.random.pick(this.spots));
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

  /** A client that is still connected to a replaced engine gets no answers after the end of that engine's lease. */
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
    // A replaced engine's answer may be as old as its lease; nothing can be concluded from it.
    if (isOld) return;
    const violation = this.history.read(spot, write, atBegin);
    if (violation !== undefined) throw new Wrong(`block ${violation.block} ${violation.what}`);
  }

  // How it has to end

  private async heal(): Promise<void> {
    this.faults?.end();
    this.world.note('all faults are over');
    this.net.healAll();
    this.net.mischiefOneIn = 0;
    this.net.isDoubling = false;
    this.net.release();
    for (const node of this.nodes.values()) {
      node.disk.isFull = false;
      node.disk.slowestMs = 2;
      node.disk.faults = { read: false, write: false, sync: false };
      node.host.stop(0);
      for (const life of node.engines) life.stop(0);
      node.powerOn();
    }
    // A disk call that was to fail may have begun before.
    await this.world.sleep(LONGEST_CALL_MS);
    const serving = await this.healthy();
    this.world.note('healthy');
    await this.finish(serving);
    await this.compare();
  }

  /** Reads everything once more and detaches. If the engine was just replaced, the next one does so. */
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

  /** Waits until all copies are current and equal, within a quarter of an hour. */
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
        const isWhole = modes?.length === this.nodes.size && modes.every((mode) => mode === 'RW');
        if (isWhole && !serving.engine.isRebuilding) return serving;
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

/** A broken promise, as opposed to an error of a request. */
class Wrong extends Error {}

function blockOf(spot: number, write: number): Buffer {
  const stamp = Buffer.alloc(8);
  stamp.writeUInt32LE(spot + 1, 0);
  stamp.writeUInt32LE(write, 4);
  return Buffer.alloc(BLOCK_BYTES, stamp);
}

/** The number of the write that the block shows; 0 for zeros, `undefined` for content that no write has made. */
function numberIn(bytes: Buffer, spot: number): number | undefined {
  const write = bytes.readUInt32LE(4);
  const expected = write === 0 ? Buffer.alloc(BLOCK_BYTES) : blockOf(spot, write);
  return bytes.equals(expected) ? write : undefined;
}

/** Replaces random ids by seeded ones: the code under test orders copies by them. */
export function seededIds(world: World): { restore: () => void } {
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
