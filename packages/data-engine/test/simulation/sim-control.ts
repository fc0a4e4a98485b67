/**
 * The control plane of one volume, as far as engines and copies see it: grants attachments, asks the copies, decides with
 * core's own rule which to believe, starts the engine, and has lost copies rebuilt. Its database may lose its last commits.
 */
import crypto from 'node:crypto';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, compareRecords, decideCurrentCopies } from '@holdfast/core/model/copy-record.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
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
/** An engine of which nothing was heard for so long is replaced. */
const SILENT_MS = 12_000;
const REPLICA_TIMEOUT_MS = 8_000;

export type Placed = { readonly address: ReplicaAddress; readonly node: SimNode };

/** What Postgres holds. */
type Row = { epoch: number; grantId: string; record: CopyRecord };

/** One engine and its process. */
export type Serving = {
  readonly engine: Engine;
  readonly life: Life;
  readonly node: SimNode;
  readonly epoch: number;
  readonly grantId: string;
  /** The copies that it opened. */
  readonly opened: readonly string[];
  /** How often each copy had lost what was not flushed when all were found to be equal; `undefined` until then. */
  losses: ReadonlyMap<string, number> | undefined;
};

export class SimControl {
  private row: Row;
  private readonly life: Life;
  /** What users work with; `undefined` while nothing serves. */
  serving: Serving | undefined;
  /** The one before, which may still run where nothing reaches it, and since when it is none any more. */
  replaced: { readonly serving: Serving; readonly atMs: number } | undefined;
  private heardAtMs = 0;
  /** Copies of the serving engine that have all that was acknowledged before it. */
  private keepers: readonly string[] = [];
  /** How often each copy has lost what was not flushed. */
  readonly losses = new Map<string, number>();
  private readonly started = new Map<string, { life: Life; opening: Promise<Serving> }>();
  /** Why nothing serves, as it was said last. */
  private waits = '';
  isStopping = false;
  /** Called when an engine has opened its copies, before it has made them equal. */
  onOpened: () => void = () => undefined;
  starts = 0;

  constructor(
    private readonly world: World,
    private readonly net: SimNet,
    private readonly nodes: readonly SimNode[],
    public copies: readonly Placed[],
    private readonly volume: { volumeId: string; sizeBytes: number },
    record: CopyRecord,
    /** A new engine serves: with or without what no flush had covered. */
    private readonly onTakeover: (keepsAll: boolean) => void,
    /** Makes an empty copy on a node, which is nobody's member yet. */
    private readonly place: (node: SimNode) => Promise<Placed>,
    /** A promise was broken that nobody may ever notice by reading. */
    private readonly onViolation: (what: string) => void,
  ) {
    this.row = { epoch: 0, grantId: '', record };
    this.life = new Life(world, CONTROL);
  }

  /** Goes on until it is told to stop. */
  async run(): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.look();
      } catch (error) {
        // A mistake in the code, not something that failed.
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
   * It loses what it has committed since. That a copy is left out is not lost, though: only the copies that stayed know of
   * that too, and while those are away nothing in the world tells.
   */
  restore(row: Row): void {
    const { record } = this.row;
    const leavesOut = this.copies.some(
      ({ address }) => !record.members.some((member) => member === address.replicaId),
    );
    this.row = leavesOut ? { ...row, record } : { ...row };
  }

  /** The epoch that the copies and Postgres agree on, at least. */
  get epoch(): number {
    return this.row.epoch;
  }

  /** True when another node that runs has a current copy: what only one holds, nothing can bring back. */
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
      // Its agent reports that it has stopped.
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

  /** Users work with this engine from now on: it said that it serves, by its answer to the start or by a heartbeat. */
  private adopt(serving: Serving): void {
    if (this.row.epoch !== serving.epoch || this.row.grantId !== serving.grantId) return;
    this.heardAtMs = this.world.nowMs;
    const before = this.serving;
    if (before === serving) return;
    if (before !== undefined) this.replaced = { serving: before, atMs: this.world.nowMs };
    this.serving = serving;
    this.starts += 1;
    // A copy that was to be opened and could not be is left out, with what only it has.
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

  /** Before the copies are equal, the last one that has what no flush had covered may be dropped too. */
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

  /** The copies know more than the database: it has lost commits. */
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
        // As an agent does: a start that comes again is the same start.
        const there = this.started.get(grantId);
        if (there !== undefined) return { life: there.life, run: () => there.opening };
        const life = new Life(this.world, `engine ${epoch}`);
        node.engines.add(life);
        const opening = this.open(node, life, { epoch, grantId, record, replicas });
        this.started.set(grantId, { life, opening });
        opening.catch(() => this.started.delete(grantId));
        return { life, run: () => opening };
      },
      START_MS,
    );
  }

  /** As the engine's host process does it. */
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
      record: { ...record, members: [...record.members] },
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
        // What is on all its members is kept beside the record, as Postgres does.
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
   * A worker decides to put another copy in the place of a lost one, stands still, and only then acts: the lost one may have
   * become current again meanwhile.
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
      node.remove(address.replicaId, expected, () => {
        this.world.note(`${node.name}'s copy is removed`);
        if (this.isCurrent(address.replicaId))
          this.onViolation(`the current copy of ${node.name} is removed`);
        this.copies = this.copies.filter((copy) => copy !== lost);
      }),
    );
  }

  /** An empty copy where one was removed, for a rebuild to fill. */
  private async replenish(): Promise<void> {
    const node = this.nodes.find((one) => !one.isDown && !this.copies.some((copy) => copy.node === one));
    if (node === undefined) return;
    // What is begun on a node that dies never ends; what is left of it is nobody's.
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
    const options = {
      fastRebuild: true,
      blockHash: 'blake3' as const,
      sourcesMax: 1 + this.world.random.below(2),
      bandwidthBytesPerSecond: null,
    };
    try {
      engine.startRebuild({
        rebuildId: crypto.randomUUID(),
        target: lost.address,
        sourceReplicaId: null,
        options,
      });
      this.world.note(`a rebuild of ${lost.node.name}'s copy begins (${replicaId.slice(0, 4)})`);
    } catch (error) {
      if (!isFault(error, 'engine.busy')) throw error;
    }
  }
}
