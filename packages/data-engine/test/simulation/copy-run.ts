/**
 * One simulated life of a single copy: it is written, flushed, trimmed, frozen, reverted, purged, given up and made anew, while its process dies,
 * power is lost, the disk fails and fills up. The production classes run from `Replica` down to the system's calls. The copy is held to a
 * model, sector by sector: what a power cut may tear, users are not promised as a whole.
 *
 * What an engine makes of several copies is `sim-run.ts`'s. This one reaches states that an engine would cover up by another copy.
 */
import crypto from 'node:crypto';
import { isFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '../../src/base/system-error.js';
import type { DiskStore } from '../../src/disk/disk-store.js';
import { contiguous, type Payload } from '../../src/nbd/export.js';
import { INTENT_FILE } from '../../src/replica/intent-map.js';
import { Replica } from '../../src/replica/replica.js';
import { type Contents, SectorModel } from './sector-model.js';
import { SimDisk } from './sim-disk.js';
import { SECTOR_BYTES } from './sim-file.js';
import { seededIds } from './sim-run.js';
import { forgetMounts, mount } from './sim-system.js';
import { Life, World } from './world.js';

const BLOCK_BYTES = 4096;
const MIB = 1024 * 1024;
/** One whole region and a short one. */
const SIZE_BYTES = 17 * MIB;
const REGION_BYTES = 16 * MIB;
const SECTORS = BLOCK_BYTES / SECTOR_BYTES;
/** Blocks that are written: neighbours, and some in each region. */
const SPOTS = [0, 1, 2, 3, 300, 301, 4095, 4096, 4097, 4351];
const STEPS_MAX = 40;
const RUN_MS_MAX = 3_600_000;
const SNAPSHOTS_MAX = 3;
const HOLE_BYTES = 8192;
/** So often may an opening be refused because of one fault after another. */
const MAY_FAIL_OPENINGS = 3;

export type Outcome = {
  readonly failure: string | undefined;
  readonly story: readonly string[];
  readonly events: number;
};

export async function simulateCopy(seed: number, disks: 'any' | 'folder' | 'block'): Promise<Outcome> {
  const world = new World(seed);
  const ids = seededIds(world);
  try {
    await world.run(new CopyRun(world, disks).all(), RUN_MS_MAX);
    return { failure: undefined, story: world.story, events: world.events };
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failure, story: world.story, events: world.events };
  } finally {
    ids.restore();
    forgetMounts();
  }
}

/** Contents of the copy at moments at which marks may have been cleared: while a region has no mark, it holds one of them. */
type Cleared = Contents[];

class CopyRun {
  private readonly disk: SimDisk;
  private readonly kind: 'folder' | 'block';
  private life: Life;
  private replicaId = crypto.randomUUID();
  private replica: Replica | undefined;
  private model = new SectorModel(SPOTS.length * SECTORS);
  private writes = 0;
  private snapshots = new Map<string, Contents>();
  /** A snapshot that may be there or not. */
  private perhaps = new Map<string, Contents>();
  private cleared: Cleared = [];
  private epoch = 1;
  /** What has been done to the disk since the copy was opened, which explains errors. */
  private isFailing = false;
  private wasFull = false;
  private hasHole = false;
  private isMaking = false;
  /** The opened copy whose disk has said that a sync failed. */
  private failed: Replica | undefined;

  constructor(
    private readonly world: World,
    disks: 'any' | 'folder' | 'block',
  ) {
    this.disk = new SimDisk(world, mount, true);
    const drawn = world.random.chance(4) ? 'block' : 'folder';
    this.kind = disks === 'any' ? drawn : disks;
    this.life = new Life(world, 'host');
    this.disk.slowestMs = world.random.pick([2, 2, 30]);
    this.disk.onSyncFailed = () => {
      this.failed = this.replica;
    };
  }

  async all(): Promise<void> {
    this.world.note(`a copy on a ${this.kind} disk`);
    await this.make();
    const steps = 5 + this.world.random.below(STEPS_MAX);
    for (let step = 0; step < steps; step += 1) await this.step();
    this.heal();
    await this.die(true);
    await this.openAndCheck();
  }

  private readonly openDisk = async (): Promise<DiskStore> =>
    this.kind === 'folder' ? this.disk.folderStore(this.life) : this.disk.device.store(this.life);

  private async step(): Promise<void> {
    const { random } = this.world;
    this.disturb();
    const what = random.weighted({
      batch: 14,
      snapshot: 2,
      revert: 1,
      purge: 2,
      clear: 2,
      replace: 1,
      end: 3,
    });
    const isCut = random.chance(4);
    const work = what === 'end' ? undefined : this[what]();
    if (work === undefined) await this.die(random.chance(2));
    else if (isCut) {
      const dying = this.world.sleep(this.world.duration(0.1, random.pick([3, 20, 100])));
      // What a dying process still hears counts for nothing: its promises are kept, if they were given before.
      await Promise.race([work, dying]);
      await this.die(random.chance(2));
      work.catch(() => undefined);
    } else await work;
    if (this.replica === undefined || this.replica.hasEnded) await this.openAndCheck();
  }

  // What is done to the disk

  private disturb(): void {
    const { random, world } = this;
    if (random.chance(8)) {
      const fault = random.pick(['sync', 'sync', 'write', 'read'] as const);
      world.note(`the next ${fault} fails`);
      this.disk.faults[fault] = true;
      this.isFailing = true;
    }
    if (random.chance(10) && this.disk.failWriteback()) {
      world.note('pages could not be written');
      this.isFailing = true;
    }
    if (random.chance(12)) {
      this.disk.isFull = !this.disk.isFull;
      this.wasFull ||= this.disk.isFull;
      world.note(this.disk.isFull ? 'the disk is full' : 'the disk has space');
    }
  }

  private get random() {
    return this.world.random;
  }

  private heal(): void {
    this.disk.isFull = false;
    this.disk.faults = { read: false, write: false, sync: false };
  }

  /** The process dies, or the machine loses power; some of its disk may be gone afterwards. */
  private async die(isPower: boolean): Promise<void> {
    const { random } = this;
    this.world.note(isPower ? 'power is lost' : 'the process dies');
    this.life.kill(isPower);
    if (isPower) this.disk.powerCut(!random.chance(4));
    // Which blocks a layer holds is in the process's memory until a flush, so its end loses as much.
    this.model.lostUnflushed();
    if (random.chance(12)) this.punchMaps();
    this.life = new Life(this.world, 'host');
    this.replica = undefined;
  }

  private punchMaps(): void {
    const maps = [...this.disk.root.namedFiles()].filter(
      ([name]) => name.endsWith('.map') && name !== INTENT_FILE,
    );
    if (maps.length === 0) return;
    this.world.note('the start of a map is gone');
    this.hasHole = true;
    this.random.pick(maps)[1].rot(0, HOLE_BYTES);
  }

  // What is done to the copy

  private async batch(): Promise<void> {
    const { random } = this;
    const spots = shuffled(this.world, SPOTS.keys()).slice(0, 1 + random.below(4));
    const tasks = spots.map((spot) => this.change(spot));
    if (random.chance(2)) tasks.push(this.flush());
    if (random.chance(3)) tasks.push(this.flush());
    const others = [...SPOTS.keys()].filter((spot) => !spots.includes(spot));
    tasks.push(this.read(random.pick(others)));
    await Promise.all(tasks.map((task) => this.mayFail(task)));
  }

  private async change(spot: number): Promise<void> {
    const { random } = this;
    const replica = this.opened();
    this.writes += 1;
    const isZero = random.chance(5);
    const value = isZero ? 0 : this.writes;
    const fua = random.chance(5);
    const first = spot * SECTORS;
    const at = (SPOTS[spot] ?? 0) * BLOCK_BYTES;
    this.model.writing(first, new Array<number>(SECTORS).fill(value));
    const options = { fua, epoch: this.epoch, alone: random.chance(3), mayPunch: random.chance(2) };
    try {
      const term = { epoch: this.epoch, lease: replica.lease };
      if (isZero) await replica.writeZeroes(at, BLOCK_BYTES, { ...options, lease: term.lease });
      else if (fua || !replica.writeNow(at, [blockOf(value)], BLOCK_BYTES, term))
        await replica.write(at, [blockOf(value)], BLOCK_BYTES, { ...options, lease: term.lease });
    } catch (error) {
      if (replica === this.replica) this.model.refused(first, SECTORS);
      throw error;
    }
    if (replica === this.replica) this.model.wrote(first, SECTORS, fua && this.mayBelieve(replica));
  }

  private async flush(): Promise<void> {
    const replica = this.opened();
    const moment = this.model.moment();
    const hadFailed = this.failed === replica;
    await replica.flush();
    if (replica !== this.replica) return;
    if (hadFailed) throw new Wrong('a flush is answered after the disk has said that a sync failed');
    this.model.flushed(moment);
  }

  private mayBelieve(replica: Replica): boolean {
    return this.failed !== replica;
  }

  private async read(spot: number): Promise<void> {
    const replica = this.opened();
    const held = valuesIn(await replica.read((SPOTS[spot] ?? 0) * BLOCK_BYTES, BLOCK_BYTES));
    // Bytes that could not be written may show or not, until the copy is opened anew.
    if (replica === this.replica && !this.isFailing) this.require(spot * SECTORS, held, 'a read');
  }

  private async snapshot(): Promise<void> {
    const now = await this.settled();
    if (now === undefined || this.snapshots.size >= SNAPSHOTS_MAX) return;
    const id = crypto.randomUUID();
    this.perhaps.set(id, now);
    await this.mayFail(
      this.on(async (replica) => {
        const layer = { id, name: id, origin: 'user' as const, createdAt: '', drop: null };
        await replica.layers.snapshot(layer);
        return () => {
          this.perhaps.delete(id);
          this.snapshots.set(id, now);
          this.model.replace(now);
        };
      }),
    );
  }

  private async revert(): Promise<void> {
    const now = await this.settled();
    const [id, then] = [...this.snapshots].at(this.random.below(Math.max(1, this.snapshots.size))) ?? [];
    if (now === undefined || id === undefined || then === undefined) return;
    this.model.writing(0, then);
    await this.mayFail(
      this.on(async (replica) => {
        await replica.layers.revert(id, crypto.randomUUID());
        return () => this.model.replace(then);
      }).catch((error: unknown) => {
        this.model.refused(0, then.length);
        throw error;
      }),
    );
  }

  private async purge(): Promise<void> {
    const [id] = [...this.snapshots.keys()];
    if (id === undefined) return;
    // A layer that is being purged is no longer read on its own.
    this.snapshots.delete(id);
    const purging = this.on(async (replica) => {
      await replica.layers.markRemoved(id);
      for (let next: number | null = 0; next !== null; ) next = await replica.layers.purge(id, next);
      return () => undefined;
    });
    await Promise.all([this.mayFail(purging), this.random.chance(2) ? this.batch() : undefined]);
  }

  /** Marks are cleared as an engine does: all copies are proven equal at a moment, and users go on writing. */
  private async clear(): Promise<void> {
    const now = await this.settled();
    if (now === undefined) return;
    const replica = this.opened();
    this.cleared.push(now);
    const marker = replica.intentMarker();
    const term = { epoch: this.epoch, lease: replica.lease };
    const clearing = this.on(async (one) => {
      await one.clearIntent({ ...term, marker, regions: [{ first: 0, count: 2 }] });
      return () => undefined;
    });
    await Promise.all([this.mayFail(clearing), this.random.chance(2) ? this.batch() : undefined]);
  }

  /** The copy is given up and made anew, as for a rebuild. */
  private async replace(): Promise<void> {
    await this.replica?.close().catch(() => undefined);
    this.replica = undefined;
    await this.make();
  }

  private async make(): Promise<void> {
    this.isMaking = true;
    const before = this.replicaId;
    this.replicaId = crypto.randomUUID();
    this.model = new SectorModel(SPOTS.length * SECTORS);
    [this.snapshots, this.perhaps, this.cleared] = [
      new Map(),
      new Map(),
      [new Array(SPOTS.length * SECTORS).fill(0)],
    ];
    // Faults of what is not there yet are another search's: an agent that can't make a copy is told so, and tries again.
    this.heal();
    this.hasHole = false;
    const disk = await this.openDisk();
    await disk.remove(before);
    await Replica.create('disk', this.spec(), this.openDisk);
    this.isMaking = false;
    this.world.note('a new copy');
    await this.openAndCheck();
  }

  private spec() {
    const id = '00000000-0000-4000-8000-000000000002';
    return {
      replicaId: this.replicaId,
      volumeId: id,
      diskId: id,
      sizeBytes: SIZE_BYTES,
      secret: 'a-secret-of-sixteen',
      record: null,
    };
  }

  // What has to hold

  /** Opens the copy from what its disk has, and holds it to the model. What it shows then is durable. */
  private async openAndCheck(): Promise<void> {
    const { random, world } = this;
    if (this.replica !== undefined) {
      // It has ended, in a process that lives on.
      if (this.isFailing) this.model.lostUnflushed();
      await this.replica.close().catch(() => undefined);
      this.replica = undefined;
    }
    for (let attempt = 0; ; attempt += 1) {
      if (attempt === MAY_FAIL_OPENINGS) this.heal();
      try {
        await this.openOnce();
        break;
      } catch (error) {
        if (error instanceof Wrong) throw error;
        world.note(`it can't be opened: ${messageOf(error)}`);
        if (this.hasHole && isFault(error, 'replica.corrupt')) return this.make();
        const isListed = await this.isListed();
        // The process died while it was being made.
        if (!isListed && this.isMaking) return this.make();
        if (!isListed || attempt >= MAY_FAIL_OPENINGS)
          throw new Wrong(`it can't be opened: ${messageOf(error)}`);
        this.explain(error);
        this.model.lostUnflushed();
      }
    }
    if (random.chance(3)) this.heal();
  }

  /** Does the disk have the copy? Its next call may fail as well. */
  private async isListed(): Promise<boolean> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return (await (await this.openDisk()).list()).includes(this.replicaId);
      } catch (error) {
        this.world.note(`the disk can't be opened: ${messageOf(error)}`);
        if (attempt >= MAY_FAIL_OPENINGS) throw new Wrong(`the disk can't be opened: ${messageOf(error)}`);
      }
    }
  }

  private async openOnce(): Promise<void> {
    // No other process has the disk open, so who owns its space is found out anew, as where the last copy lets go of it.
    await this.disk.device.release(this.life);
    const replica = await Replica.open('disk', this.replicaId, this.openDisk);
    this.epoch += 1;
    try {
      const held = await this.contentsOf((at) => replica.read(at, BLOCK_BYTES));
      this.require(0, held, 'after it was opened, the copy');
      this.checkMarks(replica, held);
      await this.checkSnapshots(replica);
      await replica.fence(this.epoch);
      this.model.replace(held);
      this.perhaps.clear();
      this.replica = replica;
      this.failed = undefined;
      this.isFailing = Object.values(this.disk.faults).some((isSet) => isSet);
      this.wasFull = this.disk.isFull;
    } catch (error) {
      await replica.close().catch(() => undefined);
      throw error;
    }
  }

  private checkMarks(replica: Replica, held: Contents): void {
    const marked = replica.intentRegions();
    for (const region of [0, 1]) {
      if (marked.some(({ first, count }) => region >= first && region < first + count)) continue;
      const isIn = (_: number, index: number) =>
        Math.floor(((SPOTS[Math.floor(index / SECTORS)] ?? 0) * BLOCK_BYTES) / REGION_BYTES) === region;
      const now = held.filter(isIn).join();
      if (!this.cleared.some((contents) => contents.filter(isIn).join() === now))
        throw new Wrong(`region ${region} was changed, and has no mark`);
    }
  }

  private async checkSnapshots(replica: Replica): Promise<void> {
    for (const [id, expected] of [...this.snapshots, ...this.perhaps]) {
      if (replica.layer(id) === undefined) {
        if (this.snapshots.has(id)) throw new Wrong(`the snapshot ${id} is gone`);
        continue;
      }
      const chain = replica.chainUpTo(id);
      const held = await this.contentsOf((at) => chain.read(at, BLOCK_BYTES));
      const at = held.findIndex((value, index) => value !== expected[index]);
      if (at >= 0)
        throw new Wrong(`the snapshot ${id} shows ${held[at]} in sector ${at}, and not ${expected[at]}`);
      this.snapshots.set(id, expected);
    }
  }

  /** The copy's content, where it is certain. */
  private async settled(): Promise<Contents | undefined> {
    if (this.isFailing) return undefined;
    const replica = this.opened();
    try {
      const held = await this.contentsOf((at) => replica.read(at, BLOCK_BYTES));
      this.require(0, held, 'a read');
      return held;
    } catch (error) {
      if (error instanceof Wrong) throw error;
      return undefined;
    }
  }

  private async contentsOf(read: (at: number) => Promise<Payload>): Promise<Contents> {
    const held: number[] = [];
    for (const spot of SPOTS) held.push(...valuesIn(await read(spot * BLOCK_BYTES)));
    return held;
  }

  private require(first: number, held: Contents, what: string): void {
    const at = this.model.wrong(first, held);
    if (at === undefined) return;
    throw new Wrong(
      `${what} shows ${held[at - first]} in sector ${at % SECTORS} of block ${Math.floor(at / SECTORS)}, and may show ${this.model.possibleAt(at).join(', ')}`,
    );
  }

  /** Work on the copy; what it says it has done counts unless the process has died meanwhile. */
  private async on(work: (replica: Replica) => Promise<() => void>): Promise<void> {
    const replica = this.opened();
    const done = await work(replica);
    if (replica === this.replica) done();
  }

  private async mayFail(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof Wrong) throw error;
      this.world.note(`refused: ${messageOf(error)}`);
      this.explain(error);
    }
  }

  /** @throws what no fault of the disk explains */
  private explain(error: unknown): void {
    const code = systemCode(error);
    if (this.wasFull && (code === 'ENOSPC' || code === 'EDQUOT')) return;
    if (this.isFailing && (code === 'EIO' || isFault(error, 'replica.corrupt'))) return;
    throw new Wrong(`no fault explains: ${messageOf(error)}`);
  }

  private opened(): Replica {
    if (this.replica === undefined) throw new Error('the copy is not open');
    return this.replica;
  }
}

/** A broken promise. */
class Wrong extends Error {}

function messageOf(error: unknown): string {
  if (isFault(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function blockOf(value: number): Buffer {
  const stamp = Buffer.alloc(8);
  stamp.writeUInt32LE(value, 0);
  return Buffer.alloc(BLOCK_BYTES, stamp);
}

/** The value of each sector; -1 for one that is torn. */
function valuesIn(payload: Payload): number[] {
  const bytes = Buffer.from(contiguous(payload));
  payload.release?.();
  return Array.from({ length: SECTORS }, (_, index) => {
    const sector = bytes.subarray(index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES);
    const value = sector.readUInt32LE(0);
    return sector.equals(blockOf(value).subarray(0, SECTOR_BYTES)) ? value : -1;
  });
}

function shuffled(world: World, from: Iterable<number>): number[] {
  const left = [...from];
  return Array.from({ length: left.length }, () => left.splice(world.random.below(left.length), 1)[0] ?? 0);
}
