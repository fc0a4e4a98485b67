/**
 * Simulated control plane of one volume, as engines and copies see it: it grants attachments, surveys the copies,
 * decides with core's own rule which are current, starts the engine, and has lost copies rebuilt. Its database may
 * lose its last commits.
 */
import crypto from 'node:crypto';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, compareRecords, decideCurrentCopies } from '@holdfast/core/model/copy-record.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { planLayers } from '@holdfast/core/rebuild/plan-layers.js';
import { Engine } from '../../src/engine/engine.js';
import type { SimNet } from './sim-net.js';
import type { SimNode } from './sim-node.js';
import { Life, type World } from './world.js';

const CONTROL = 'control';
const CALL_MS = 5_000;
const START_MS = 20_000;
const LOOK_MS = 500;
const TICK_MS = 250;
const HEARTBEAT_MS = 1_000;
/** An engine that was silent for this long is replaced. */
const SILENT_MS = 12_000;
const REPLICA_TIMEOUT_MS = 8_000;

export type Placed = { readonly address: ReplicaAddress; readonly node: SimNode };

/** The volume's row in Postgres. */
type Row = { epoch: number; grantId: string; record: CopyRecord };

/** One engine and its process. */
export type Serving = {
  readonly engine: Engine;
  readonly life: Life;
  readonly node: SimNode;
  readonly epoch: number;
  readonly grantId: string;
  /** Ids of the copies that it opened. */
  readonly opened: readonly string[];
  /** How often each copy had lost unflushed writes when resync ended; `undefined` until then. */
  losses: ReadonlyMap<string, number> | undefined;
};

export class SimControl {
  private row: Row;
  private readonly life: Life;
  /** The engine that users work with; `undefined` while none serves. */
  serving: Serving | undefined;
  /** The previous engine, which may still run behind a network partition, and the time of its replacement. */
  replaced: { readonly serving: Serving; readonly atMs: number } | undefined;
  private heardAtMs = 0;
  /** Copies of the serving engine that have every write acknowledged before it. */
  private keepers: readonly string[] = [];
  /** How often each copy has lost unflushed writes. */
  readonly losses = new Map<string, number>();
  private readonly started = new Map<string, { life: Life; opening: Promise<Serving> }>();
  /** The last reported reason why no engine serves. */
  private waits = '';
  isStopping = false;
  /** Called when an engine has opened its copies, before resync. */
  onOpened: () => void = () => undefined;
  starts = 0;

  constructor(
    private readonly world: World,
    private readonly net: SimNet,
    private readonly nodes: readonly SimNode[],
    public copies: readonly Placed[],
    private readonly volume: { volumeId: VolumeId; sizeBytes: number },
    record: CopyRecord,
    /** Called when a new engine serves; `keepsAll` is false if unflushed writes may be lost. */
    private readonly onTakeover: (keepsAll: boolean) => void,
    /** Creates an empty copy on a node; it is no member yet. */
    private readonly place: (node: SimNode) => Promise<Placed>,
    /** Called for a broken promise that no read might ever show. */
    private readonly onViolation: (what: string) => void,
  ) {
    this.row = { epoch: 0, grantId: '', record };
    this.life = new Life(world, CONTROL);
  }

  /** Runs until it is stopped. */
  async run(): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.look();
      } catch (error) {
        // A bug in the code, not a simulated failure.
        if (error instanceof TypeError || error instanceof RangeError) throw error;
        this.world.note(`control: ${error instanceof Error ? error.message : String(error)}`);
      }
      await this.life.time.sleep(this.world.duration(LOOK_MS / 2, 2 * LOOK_MS));
    }
  }

  backup(): Row {
    return { ...this.row };
  }

  /**
   * Restores an earlier row: later commits are lost. Dropped members stay dropped, though: only the remaining copies
   * know of the drop too, and while those are away nothing else in the world could tell.
   */
  restore(row: Row): void {
    const { record } = this.row;
    const leavesOut = this.copies.some(
      ({ address }) => !record.members.some((member) => member === address.replicaId),
    );
    this.row = leavesOut ? { ...row, record } : { ...row };
  }

  /** The epoch in Postgres. After lost commits the copies may know a higher one. */
  get epoch(): number {
    return this.row.epoch;
  }

  /** True if another running node has a current copy: data that only one copy holds can't be recovered. */
  canDoWithout(node: SimNode): boolean {
    const { serving } = this;
    if (serving === undefined) return false;
    return this.copies.some((copy) => {
      const isCurrent = serving.engine.copies.find(copy.address.replicaId)?.mode === 'RW';
      return isCurrent && copy.node !== node && !copy.node.isDown;
    });
  }

  private async look(): Promise<void> {
    const { serving } = this;
    const isSilent = this.world.nowMs - this.heardAtMs > SILENT_MS;
    if (serving === undefined || isSilent) return this.attach();
    await this.replenish();
    const { copies } = serving.engine;
    if (copies.stopReason !== undefined) {
      // The agent reports that the engine has stopped.
      if (!this.net.isCut(serving.node.name, CONTROL)) this.serving = undefined;
      return;
    }
    await this.rebuild(serving);
  }

  private async attach(): Promise<void> {
    const node = this.world.random.pick(this.nodes);
    if (node.isDown) return;
    this.row = { ...this.row, epoch: this.row.epoch + 1, grantId: crypto.randomUUID() };
    const { epoch, grantId } = this.row;
    const found = await this.survey(epoch, grantId);
    const decision = decideCurrentCopies({ known: this.row.record, found });
    if (decision.kind === 'wait') {
      const waits = `control: ${decision.code}: ${found.size} answer`;
      if (waits !== this.waits) this.world.note(`${waits}, at epoch ${epoch} and from then on`);
      this.waits = waits;
      return;
    }
    this.waits = '';
    const { record, current } = decision;
    const replicas = this.copies
      .map(({ address }) => address)
      .filter(({ replicaId }) => current.includes(replicaId as ReplicaId));
    const serving = await this.start(node, epoch, grantId, record, replicas);
    this.adopt(serving);
  }

  /**
   * Makes this engine the one that users work with: it has reported that it serves, in its answer to the start or in
   * a heartbeat.
   */
  private adopt(serving: Serving): void {
    if (this.row.epoch !== serving.epoch || this.row.grantId !== serving.grantId) return;
    this.heardAtMs = this.world.nowMs;
    const before = this.serving;
    if (before === serving) return;
    if (before !== undefined) this.replaced = { serving: before, atMs: this.world.nowMs };
    this.serving = serving;
    this.starts += 1;
    // Leaves out a copy that was to be opened and could not be, with the writes that only it has.
    this.keepers = serving.opened.filter((replicaId) => {
      const known = before?.losses?.get(replicaId);
      const isInUse = serving.engine.copies.find(replicaId)?.mode !== 'ERR';
      return isInUse && known !== undefined && known === (this.losses.get(replicaId) ?? 0);
    });
    const keepsAll = this.keepers.length > 0;
    const what = keepsAll ? 'with' : 'without';
    this.world.note(`engine ${serving.epoch} serves on ${serving.node.name}, ${what} what was not flushed`);
    this.onTakeover(keepsAll);
  }

  /** Records that the last copy with all unflushed writes may be dropped before resync ends. */
  noteLost(): void {
    const { serving } = this;
    if (serving === undefined || serving.losses !== undefined || this.keepers.length === 0) return;
    const areGone = this.keepers.every((replicaId) => serving.engine.copies.find(replicaId)?.mode === 'ERR');
    if (!areGone) return;
    this.keepers = [];
    this.onTakeover(false);
  }

  private async survey(epoch: number, grantId: string): Promise<Map<ReplicaId, CopyRecord>> {
    const found = new Map<ReplicaId, CopyRecord>();
    const asked = this.copies.map(async ({ address, node }) => {
      const answer = await this.net.call(
        { life: this.life, node: CONTROL },
        node.name,
        () =>
          node.isDown
            ? undefined
            : {
                life: node.host,
                run: async () =>
                  (await node.copies(address.replicaId)).command(address.replicaId, 'open', {
                    epoch,
                    grantId,
                  }),
              },
        CALL_MS,
      );
      // The casts: ids made by the simulation are well-formed.
      if (answer.record !== null)
        found.set(address.replicaId as ReplicaId, answer.record as unknown as CopyRecord);
    });
    const answers = await Promise.allSettled(asked);
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      if (!isFault(answer.reason, 'engine.stale_epoch')) continue;
      this.raise(answer.reason);
      throw answer.reason;
    }
    return found;
  }

  /** Raises the epoch above what the copies know: the database has lost commits. */
  private raise(fault: StorageFault): void {
    const newest = fault.details.context?.newest;
    if (typeof newest === 'number' && newest >= this.row.epoch) this.row = { ...this.row, epoch: newest };
  }

  private start(
    node: SimNode,
    epoch: number,
    grantId: string,
    record: CopyRecord,
    replicas: ReplicaAddress[],
  ): Promise<Serving> {
    return this.net.call(
      { life: this.life, node: CONTROL },
      node.name,
      () => {
        if (node.isDown) return undefined;
        // As an agent does: a repeated start is the same start.
        const there = this.started.get(grantId);
        if (there !== undefined) return { life: there.life, run: () => there.opening };
        // Beside its node's copy, or in a process of its own.
        const isBeside = this.world.random.chance(2);
        const life = isBeside ? node.host : new Life(this.world, `engine ${epoch}`);
        if (!isBeside) node.engines.add(life);
        const opening = this.open(node, life, { epoch, grantId, record, replicas });
        this.started.set(grantId, { life, opening });
        opening.catch(() => this.started.delete(grantId));
        return { life, run: () => opening };
      },
      START_MS,
    );
  }

  /** Opens an engine as its host process does. */
  private async open(
    node: SimNode,
    life: Life,
    grant: { epoch: number; grantId: string; record: CopyRecord; replicas: ReplicaAddress[] },
  ): Promise<Serving> {
    const { epoch, grantId, record, replicas } = grant;
    const spec = {
      ...this.volume,
      volumeName: 'volume',
      epoch,
      grantId,
      attachmentSecret: 'sixteen-characters',
      record,
      replicas,
      replicaTimeoutMs: REPLICA_TIMEOUT_MS,
    };
    const engine = new Engine(spec, {
      time: life.time,
      connectControl: node.connectControl(life),
      connectData: node.connectData(life),
      planLayers,
      confirmRecord: (next) => this.confirm(node, life, { epoch, grantId }, next),
      onChange: () => undefined,
    });
    const tick = () => {
      engine.tick(life.time.nowMs());
      life.later(TICK_MS, tick);
    };
    life.later(TICK_MS, tick);
    await engine.open();
    this.onOpened();
    const opened = engine.copies.withMode('RW').map(({ replicaId }) => replicaId);
    const serving: Serving = { engine, life, node, epoch, grantId, opened, losses: undefined };
    const atEqual = new Map(this.losses);
    void engine.equal().then(
      () => {
        this.noteLost();
        serving.losses = new Map(
          replicas.map(({ replicaId }) => [replicaId, atEqual.get(replicaId) ?? 0] as const),
        );
      },
      () => undefined,
    );
    const beat = () => {
      if (engine.copies.stopReason === undefined) this.heartbeat(serving);
      life.later(HEARTBEAT_MS, beat);
    };
    beat();
    return serving;
  }

  private heartbeat(serving: Serving): void {
    const { engine, life, node, epoch } = serving;
    const { record, complete } = engine.copies.membership;
    this.net.deliver(
      node.name,
      CONTROL,
      () => life.isAlive,
      () => {
        if (this.row.epoch !== epoch || this.row.grantId !== serving.grantId) return;
        this.adopt(serving);
        if (record.epoch !== epoch || compareRecords(record, this.row.record) < 0) return;
        // Stores the newest record that all members hold beside the record, as Postgres does.
        this.row = { ...this.row, record: { ...record, durable: complete } };
      },
    );
  }

  private confirm(
    node: SimNode,
    life: Life,
    grant: { epoch: number; grantId: string },
    record: CopyRecord,
  ): Promise<void> {
    return this.net.call(
      { life, node: node.name },
      CONTROL,
      () => ({
        life: this.life,
        run: async () => {
          if (this.row.epoch !== grant.epoch || this.row.grantId !== grant.grantId)
            throw new StorageFault('engine.stale_epoch', { publicMessage: 'a newer attachment was granted' });
          this.row = { ...this.row, record };
        },
      }),
      CALL_MS,
    );
  }

  /**
   * A worker decides to replace a lost copy, is paused, and only then acts: the lost copy may have become current
   * again meanwhile.
   */
  async replaceLate(): Promise<void> {
    const lost = this.copies.find(({ address, node }) => !node.isDown && !this.isCurrent(address.replicaId));
    if (lost === undefined) return;
    const { address, node } = lost;
    const call = <T>(run: () => Promise<T>) =>
      this.net.call(
        { life: this.life, node: CONTROL },
        node.name,
        () => (node.isDown ? undefined : { life: node.host, run }),
        CALL_MS,
      );
    const expected = await call(() => node.describe(address.replicaId));
    if (this.isCurrent(address.replicaId)) return;
    await this.life.time.sleep(this.world.duration(100, 20_000));
    await call(() =>
      node.remove(address.replicaId, { expected }, () => {
        this.world.note(`${node.name}'s copy is removed`);
        if (this.isCurrent(address.replicaId))
          this.onViolation(`the current copy of ${node.name} is removed`);
        this.copies = this.copies.filter((copy) => copy !== lost);
      }),
    );
  }

  /** Adds an empty copy where one was removed, as a rebuild target. */
  private async replenish(): Promise<void> {
    const node = this.nodes.find((one) => !one.isDown && !this.copies.some((copy) => copy.node === one));
    if (node === undefined) return;
    // Work begun on a node that dies never ends; its remains are an orphan.
    const placed = await Promise.race([this.place(node), this.life.time.sleep(CALL_MS)]);
    if (placed !== undefined) this.copies = [...this.copies, placed];
  }

  private isCurrent(replicaId: string): boolean {
    return this.serving?.engine.copies.find(replicaId)?.mode === 'RW';
  }

  private async rebuild({ engine, life }: Serving): Promise<void> {
    if (engine.isRebuilding || !life.isAlive) return;
    const lost = this.copies.find(({ address, node }) => {
      const mode = engine.copies.find(address.replicaId)?.mode;
      return !node.isDown && (mode === undefined || mode === 'ERR');
    });
    if (lost === undefined) return;
    const { replicaId } = lost.address;
    if (await lost.node.isCorrupt(replicaId)) {
      // As a worker does with a copy that its disk can't give any more.
      this.world.note(`${lost.node.name}'s copy is corrupt, and given up`);
      this.copies = this.copies.filter((copy) => copy !== lost);
      await Promise.race([lost.node.discard(replicaId), this.life.time.sleep(CALL_MS)]);
      return;
    }
    const options = {
      purgesFirst: true,
      fastRebuild: true,
      blockHash: 'blake3' as const,
      sourcesMax: 1 + this.world.random.below(2),
      bandwidthBytesPerSecond: null,
    };
    try {
      engine.startRebuild({
        rebuildId: crypto.randomUUID(),
        target: lost.address,
        sourceReplicaIds: [],
        options,
      });
      this.world.note(`a rebuild of ${lost.node.name}'s copy begins (${replicaId.slice(0, 4)})`);
    } catch (error) {
      if (!isFault(error, 'engine.busy')) throw error;
    }
  }
}
