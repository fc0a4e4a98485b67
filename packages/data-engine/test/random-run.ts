/**
 * Random run on real copies: does to a volume what users, failures and the control plane do to it, and compares every
 * read with a plain model in memory. The seed decides the operations; how the processes' work interleaves is left to
 * the machine.
 */
import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { BlockModel } from '@holdfast/testkit/block-model.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { Engine } from '../src/engine/engine.js';
import { checksumOfBytes } from '../src/layers/device-checksum.js';
import { NbdError } from '../src/nbd/errors.js';
import { type Cluster, type Copy, MIB, OPTIONS, read, until } from './engine-cluster.js';
import { type Change, RandomChanges } from './random-changes.js';
import { RandomControlPlane } from './random-control-plane.js';
import type { ReplicaNodes } from './replica-node.js';

const SNAPSHOTS_MAX = 5;
const SIZE_MAX = 40 * MIB;
/** Bytes per read when much is compared. */
const COMPARED_BYTES = 64 * 1024;
/** Far above what any step takes, so that a hang becomes an error with a name. */
const STUCK_MS = 120_000;
/** Delay after which a copy that everything waits for is brought back, in milliseconds. */
const HEAL_MS = 50;

const WEIGHTS = {
  changes: 60,
  read: 30,
  flush: 5,
  snapshot: 3,
  revert: 2,
  remove: 2,
  purge: 2,
  expand: 1,
  idle: 2,
  equal: 3,
  loseCopy: 3,
  rebuild: 5,
  crashEngine: 3,
};

export class RandomRun {
  private readonly random: SeededRandom;
  private readonly picked: RandomChanges;
  private readonly controlPlane: RandomControlPlane;
  private readonly model: BlockModel;
  /** Content of each snapshot that was acknowledged and not removed since. */
  private readonly snapshots = new Map<string, Buffer>();
  /** Snapshots whose creation the engine's death interrupted: they may exist or not. */
  private readonly doubtful = new Set<string>();
  private engine: Engine | undefined;
  private sizeBytes: number;
  /** Copies whose process has died since the engine was started. */
  private readonly died = new Set<string>();
  private copiesAreEqual = false;
  /** True if anything was done since the engine was started that may end it, or fail a request. */
  private isDisturbed = false;
  /** Log of the run, for the report of a failure. */
  readonly story: string[] = [];
  steps = 0;

  constructor(
    seed: number,
    private readonly nodes: ReplicaNodes,
    private readonly cluster: Cluster,
  ) {
    this.random = new SeededRandom(seed);
    this.sizeBytes = cluster.sizeBytes;
    this.model = new BlockModel(cluster.sizeBytes);
    this.picked = new RandomChanges(this.random, this.model);
    this.controlPlane = new RandomControlPlane(seed, nodes, cluster);
  }

  /** Runs that many operations, then restores and compares everything. */
  async round(operations: number): Promise<void> {
    await this.attach();
    for (let i = 0; i < operations; i += 1) {
      const name = this.random.weighted(WEIGHTS);
      this.note(name);
      await this[name]();
      if (this.running.copies.stopReason !== undefined) await this.recover();
    }
    await this.restore();
  }

  private note(text: string): void {
    this.steps += 1;
    this.story.push(text);
  }

  private get running(): Engine {
    if (this.engine === undefined) throw new Error('no engine runs');
    return this.engine;
  }

  // What users do

  private async changes(): Promise<void> {
    const changes = this.picked.pick();
    const moment = this.random.chance(4) ? this.model.moment(this.copiesAreEqual) : undefined;
    const work = changes.map((change) => this.apply(change));
    if (moment !== undefined) work.push(this.running.device.flush().then(() => this.model.flushed(moment)));
    const disaster = this.random.chance(12) ? this.disasterAndPerhapsMore() : undefined;
    const ended = await this.inTime(Promise.allSettled(work), 'changes');
    await disaster;
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected' && this.running.copies.stopReason === undefined) {
      // Users see no error as long as one copy completes the request; the last copy's answer is passed on, though,
      // and its process may be dying.
      if (disaster === undefined || !(failed.reason instanceof NbdError)) throw failed.reason;
      this.model.lostInFlight();
    }
    this.steps += work.length;
  }

  private async apply({ kind, offset, bytes, fua }: Change): Promise<void> {
    const { device } = this.running;
    this.model.writing(offset, bytes);
    if (kind === 'write') await device.write(offset, [bytes], bytes.length, { fua });
    else if (kind === 'trim') await device.trim(offset, bytes.length, { fua });
    else await device.writeZeroes(offset, bytes.length, { fua, mayPunch: bytes.length % 3 !== 0 });
    if (fua) this.model.wroteForGood(offset, bytes);
    else this.model.wrote(offset, bytes);
  }

  private async read(): Promise<void> {
    const { offset, lengthBytes } = this.picked.range(false);
    await this.compare(offset, lengthBytes).catch((error: unknown) => this.unlessStopped(error));
  }

  private async flush(): Promise<void> {
    const moment = this.model.moment(this.copiesAreEqual);
    await this.inTime(this.running.device.flush(), 'flush').then(
      () => this.model.flushed(moment),
      (error: unknown) => this.unlessStopped(error),
    );
  }

  private async snapshot(): Promise<void> {
    await this.equal();
    if (!this.copiesAreEqual || this.snapshots.size >= SNAPSHOTS_MAX) return;
    const id = crypto.randomUUID();
    const snapshot = { id, name: id, origin: 'user' as const, createdAt: new Date(0).toISOString() };
    const contents = this.model.contents();
    this.doubtful.add(id);
    const taken = this.running.snapshots.take(snapshot).then(
      () => {
        this.model.replace(contents);
        this.doubtful.delete(id);
      },
      (error: unknown) => this.unlessStopped(error),
    );
    // No write was in flight, so an interrupted snapshot has this content if it exists.
    this.snapshots.set(id, contents);
    if (this.random.chance(4)) await this.dieDuring(taken);
    await this.inTime(taken, 'snapshot');
  }

  private async revert(): Promise<void> {
    await this.equal();
    if (!this.copiesAreEqual || this.snapshots.size === 0 || this.running.isRebuilding) return;
    const id = this.random.pick([...this.snapshots.keys()]);
    const contents = this.snapshots.get(id) ?? Buffer.alloc(0);
    const whole = Buffer.concat([contents], this.model.sizeBytes);
    // Until it is acknowledged, each block may have the old or the new content.
    this.model.writing(0, whole);
    let done = false;
    const reverted = this.running.snapshots.revert(id).then(
      () => {
        done = true;
      },
      (error: unknown) => this.unlessStopped(error),
    );
    if (this.random.chance(4)) await this.dieDuring(reverted);
    await this.inTime(reverted, 'revert');
    if (done) this.model.replace(whole);
    else this.model.lostInFlight();
  }

  private async remove(): Promise<void> {
    if (this.snapshots.size === 0) return;
    const id = this.random.pick([...this.snapshots.keys()]);
    this.snapshots.delete(id);
    await this.inTime(this.running.snapshots.remove(id), 'remove').catch((error: unknown) =>
      this.unlessStopped(error),
    );
  }

  private async purge(): Promise<void> {
    if (this.running.isRebuilding) return;
    const purged = this.running.snapshots.purge().catch((error: unknown) => this.unlessStopped(error));
    if (this.random.chance(3)) await this.dieDuring(purged);
    await this.inTime(purged, 'purge');
  }

  private async expand(): Promise<void> {
    if (this.running.isRebuilding || this.sizeBytes >= SIZE_MAX) return;
    this.sizeBytes += 4 * MIB;
    await this.inTime(this.running.snapshots.expand(this.sizeBytes), 'expand').then(
      () => this.model.grow(this.sizeBytes),
      (error: unknown) => this.unlessStopped(error),
    );
  }

  // What time does

  /** Long enough without a write for the copies' write-intent marks to be cleared. */
  private async idle(): Promise<void> {
    this.running.tick(performance.now() + 5000);
    await sleep(20);
  }

  /** Waits for the end of resync; then a read shows what a crash has left. */
  private async equal(): Promise<void> {
    try {
      await this.inTime(this.running.equal(), 'equal');
      await this.running.drops.marked();
      if (this.model.uncertainBlocks.length > 0) this.model.adopt(await this.compareAll());
      this.copiesAreEqual = true;
      await this.compareSnapshots();
    } catch (error) {
      this.unlessStopped(error);
    }
  }

  // What fails

  private async loseCopy(): Promise<void> {
    await this.disaster();
    await sleep(this.random.below(20));
  }

  /** A copy is lost, and in some cases the engine right after it, before or after it has told the others. */
  private async disasterAndPerhapsMore(): Promise<void> {
    await this.disaster();
    if (this.random.chance(2)) return;
    await sleep(this.random.below(30));
    this.note('die after it');
    this.die();
  }

  /** Loses one copy: its process, or the network to it. */
  private async disaster(): Promise<void> {
    this.isDisturbed = true;
    const copy = this.random.pick(this.cluster.copies);
    // Before the end of resync, the lost copy may be the only one with unflushed writes.
    if (!this.copiesAreEqual) this.model.lostUnflushed();
    if (this.random.chance(2)) await this.crashCopy(copy);
    else if (copy.node.isAlive) {
      this.note('cut off');
      copy.node.cutOff();
    } else copy.node.reconnect();
  }

  private async crashCopy({ node, address }: Copy): Promise<void> {
    this.note('crash copy');
    this.isDisturbed = true;
    this.died.add(address.replicaId);
    await node.crash(this.nodes, address.replicaId);
  }

  private async crashEngine(): Promise<void> {
    const work = this.random.chance(2)
      ? this.picked.pick().map((change) => this.apply(change).catch(() => undefined))
      : [];
    await sleep(this.random.below(4));
    this.die();
    await Promise.all(work);
    const crashes = this.random.below(2 + this.cluster.copies.length);
    for (const copy of this.cluster.copies.slice(0, crashes)) await this.crashCopy(copy);
  }

  private async dieDuring(work: Promise<unknown>): Promise<void> {
    await sleep(this.random.below(12));
    this.note('die meanwhile');
    this.die();
    await work;
  }

  private die(): void {
    this.isDisturbed = true;
    this.running.fence(new StorageFault('engine.not_found', { publicMessage: 'the engine was killed' }));
  }

  // What the control plane does

  private async rebuild(): Promise<void> {
    const lost = this.cluster.copies.find((copy) => this.isLost(copy));
    if (lost === undefined || this.running.isRebuilding) return;
    lost.node.reconnect();
    const rebuildId = crypto.randomUUID();
    const { address } = lost;
    try {
      const options = {
        ...OPTIONS,
        sourcesMax: 1 + this.random.below(2),
        purgesFirst: true,
        fastRebuild: this.random.chance(2),
      };
      this.running.startRebuild({ rebuildId, target: address, sourceReplicaIds: [], options });
    } catch (error) {
      if (!isFault(error, 'engine.busy')) this.unlessStopped(error);
      return;
    }
    const isDisturbed = this.random.chance(3);
    if (isDisturbed) {
      await sleep(this.random.below(60));
      await this.disaster();
    }
    if (this.random.chance(2)) return;
    await this.rebuilt(rebuildId, isDisturbed);
  }

  private async rebuilt(rebuildId: string, mayFail: boolean): Promise<void> {
    const engine = this.running;
    const report = () => engine.report().rebuilds.find((one) => one.rebuildId === rebuildId);
    await this.inTime(
      until(engine, () => report()?.state !== 'running'),
      'rebuild',
    );
    if (report()?.state === 'succeeded' || mayFail || engine.copies.stopReason !== undefined) return;
    throw new Error(`a rebuild failed though nothing disturbed it: ${JSON.stringify(report()?.error)}`);
  }

  private isLost({ address }: Copy): boolean {
    const mode = this.running.copies.find(address.replicaId)?.mode;
    return mode === undefined || mode === 'ERR';
  }

  /** The engine is gone: another one takes over with the current copies. */
  private async recover(): Promise<void> {
    const { stopReason } = this.running.copies;
    if (!this.isDisturbed) {
      throw new Error(`the engine stopped though nothing was done to it: ${stopReason}`, {
        cause: stopReason,
      });
    }
    // Work of the dead engine is not waited for: it may still reach copies that no newer engine has fenced yet.
    const kept = this.cluster.copies.filter(({ address }) => !this.died.has(address.replicaId));
    const wasEqual = this.copiesAreEqual;
    if (this.random.chance(2)) for (const { node } of this.cluster.copies) node.reconnect();
    const current = await this.attach();
    const isKept = wasEqual && kept.some(({ address }) => current.includes(address.replicaId));
    if (isKept) this.model.lostInFlight();
    else this.model.lostUnflushed();
    this.note(`recovered, ${isKept ? 'with' : 'without'} what was not flushed`);
    await this.compareAll().catch((error: unknown) => this.unlessStopped(error));
    if (this.random.chance(2)) await this.equal();
  }

  /** @returns the copies that the new engine was given as current */
  private async attach(): Promise<readonly string[]> {
    const { engine, current } = await this.controlPlane.attach(this.sizeBytes);
    this.engine = engine;
    this.died.clear();
    this.isDisturbed = false;
    this.copiesAreEqual = false;
    this.model.newLife();
    return current;
  }

  // What is compared

  /** Brings all copies back, rebuilds, reads and detaches them, and compares each on its own. */
  private async restore(): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      for (const { node } of this.cluster.copies) node.reconnect();
      if (this.running.copies.stopReason !== undefined) await this.recover();
      await this.equal();
      const { engine } = this;
      if (engine === undefined) continue;
      await until(engine, () => !engine.isRebuilding);
      await until(
        engine,
        () => engine.copies.stopReason !== undefined || engine.device.sizeBytes >= this.sizeBytes,
      );
      this.model.grow(this.sizeBytes);
      const lost = this.cluster.copies.find((copy) => this.isLost(copy));
      if (lost === undefined) break;
      const rebuildId = crypto.randomUUID();
      engine.startRebuild({ rebuildId, target: lost.address, sourceReplicaIds: [], options: OPTIONS });
      await this.rebuilt(rebuildId, false);
    }
    await this.equal();
    const held = await this.compareAll();
    await this.running.stop();
    this.model.replace(held);
    const sums = await this.cluster.checksums();
    const expected = checksumOfBytes(held);
    if (sums.size !== 1 || !sums.has(expected)) {
      throw new Error(`the copies are not equal: ${[...sums]}, read: ${expected}`);
    }
  }

  /** Every acknowledged snapshot must exist. */
  private async compareSnapshots(): Promise<void> {
    const listed = new Set((await this.listSnapshots()).map(({ id }) => id));
    for (const id of this.snapshots.keys()) {
      if (listed.has(id)) continue;
      if (!this.doubtful.has(id)) throw new Error(`the snapshot ${id} is gone`);
      this.snapshots.delete(id);
    }
    this.doubtful.clear();
  }

  /** Retried while a copy that has just been lost is still counted in. */
  private async listSnapshots(): Promise<{ id: string }[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.running.snapshots.list();
      } catch (error) {
        if (attempt === 10 || !isFault(error, 'agent.unreachable')) throw error;
        await sleep(20);
      }
    }
  }

  private async compareAll(): Promise<Buffer> {
    await until(this.running, () => this.running.device.sizeBytes >= this.model.sizeBytes);
    return this.compare(0, this.model.sizeBytes);
  }

  /** In pieces, so that all copies serve some of them. */
  private async compare(offset: number, lengthBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let at = offset; at < offset + lengthBytes; at += COMPARED_BYTES) {
      const piece = Math.min(COMPARED_BYTES, offset + lengthBytes - at);
      const held = await this.inTime(read(this.running, at, piece), 'read');
      const wrong = this.model.wrongBlocks(at, held);
      if (wrong.length > 0) throw new Error(`blocks ${wrong.slice(0, 20)} hold what they must not`);
      pieces.push(held);
    }
    return Buffer.concat(pieces);
  }

  /** The last copy is never dropped: while it can't be reached requests wait, so it is brought back after a while. */
  private async inTime<T>(work: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const healer = setInterval(() => this.bringLastBack(), HEAL_MS);
    const stuck = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`stuck: ${what}`)), STUCK_MS);
    });
    try {
      return await Promise.race([work, stuck]);
    } finally {
      clearTimeout(timer);
      clearInterval(healer);
    }
  }

  private bringLastBack(): void {
    for (const { replicaId, lost } of this.engine?.copies.withMode('RW') ?? []) {
      if (lost === undefined) continue;
      this.cluster.copies.find(({ address }) => address.replicaId === replicaId)?.node.reconnect();
    }
  }

  private unlessStopped(error: unknown): void {
    if (this.running.copies.stopReason !== undefined) return;
    // The last copy stays in use while it can't be reached; commands to it fail meanwhile, with that code. A command
    // that arrives while the engine opens the copy again was sent under the lease from before, and is refused.
    const isAway =
      isFault(error, 'agent.unreachable') ||
      isFault(error, 'engine.no_replica') ||
      isFault(error, 'replica.state_changed');
    if (!isAway || !this.isDisturbed) throw error;
  }
}
