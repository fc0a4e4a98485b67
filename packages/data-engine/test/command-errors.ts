/**
 * Matrix of commands and errors: what a command to a copy leaves when one of its calls on the disk fails, or takes longer than its caller
 * waits. A dry run counts the calls; then each is failed in its turn.
 */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { FAULTS, isFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { contiguous } from '../src/nbd/export.js';
import type { Answer, Ask, CommandName } from '../src/protocol/commands.js';
import type { ProgressWait, PullProgress } from '../src/protocol/pull.js';
import { openDiskStore } from '../src/replica/open-disk-store.js';
import { Replica } from '../src/replica/replica.js';
import { asDiskRefusal } from '../src/replica-server/disk-refusals.js';
import { type FileCall, FileTap } from './file-tap.js';
import type { ReplicaNode, ReplicaNodes } from './replica-node.js';

const KIB = 1024;
const SIZE = 4096 * KIB;
const EPOCH = 5;
/** Where a write lies that is acknowledged and not flushed. */
const UNFLUSHED_KIB = 512;
/** Steps of a purge, and questions for work behind an answer: more than any row takes. */
const STEPS_MAX = 5_000;

/** Numbers as the kernel's: a native call answers with them. */
const ERRNOS = { ENOSPC: 28, EIO: 5, EFBIG: 27, EROFS: 30 } as const;
type ErrorCode = keyof typeof ERRNOS;
/**
 * What befalls a call. `late`: it is made after its caller has given up and asked again. `taken over`: it is made after another engine has
 * asked for the copy.
 */
export type Trouble = ErrorCode | 'late' | 'taken over';
export const TROUBLES: readonly Trouble[] = ['ENOSPC', 'EIO', 'EFBIG', 'EROFS', 'late', 'taken over'];

const REPLICA_ID = crypto.randomUUID();
const SOURCE_ID = crypto.randomUUID();
const VOLUME_ID = crypto.randomUUID();
const REBUILD_ID = crypto.randomUUID();
const REVERT_ID = crypto.randomUUID();
const HEADS = Array.from({ length: 8 }, () => crypto.randomUUID());
const layerNamed = (name: string) => ({
  id: crypto.randomUUID(),
  name,
  origin: 'user' as const,
  createdAt: '2026-01-01T00:00:00Z',
  drop: null,
});
const BASE = layerNamed('base');
const GONE = layerNamed('gone');
const LAST = layerNamed('last');
const NEXT = layerNamed('next');
const BLOCKS = [1, 2, 3].map((value) => Buffer.alloc(64 * KIB, value));
const record = (generation: number) => copyRecord(EPOCH, generation, [asId<ReplicaId>(REPLICA_ID)]);
const specOf = (replicaId: string) => ({
  replicaId,
  volumeId: VOLUME_ID,
  sizeBytes: SIZE,
  record: copyRecord(0, 0, [asId<ReplicaId>(replicaId)]),
});

/** A copy with two snapshots, of which one is deleted, and with writes since. */
export class CopyAtRisk {
  private constructor(
    readonly node: ReplicaNode,
    readonly source: ReplicaNode,
  ) {}

  static async open(node: ReplicaNode, source: ReplicaNode): Promise<CopyAtRisk> {
    await node.open(REPLICA_ID);
    const copy = new CopyAtRisk(node, source);
    await copy.command('open', { epoch: EPOCH });
    return copy;
  }

  command<Name extends CommandName>(name: Name, ask: Ask<Name>): Promise<Answer<Name>> {
    return this.node.service.command(REPLICA_ID, name, ask);
  }

  replica(): Promise<Replica> {
    return this.node.replica(REPLICA_ID);
  }

  async write(at: number, value: number): Promise<void> {
    const payload = Buffer.alloc(64 * KIB, value);
    await (await this.replica()).write(at * KIB, [payload], payload.length, { fua: false, epoch: EPOCH });
  }

  /** As its engine does at the next attempt: only an opening reopens a copy whose disk has failed. */
  async reopenIfEnded(): Promise<boolean> {
    if (!(await this.replica()).hasEnded) return false;
    await this.command('open', { epoch: EPOCH });
    return true;
  }

  async prepare(): Promise<void> {
    const layers = [
      { ...BASE, parentId: null, sizeBytes: SIZE, removed: false, from: BASE.id },
      { ...GONE, parentId: BASE.id, sizeBytes: SIZE, removed: true, from: null },
    ];
    const ask = { epoch: EPOCH, rebuildId: REBUILD_ID, layers, headParentId: GONE.id, sizeBytes: SIZE };
    await this.command('prepare', { ...ask, headId: HEADS[0] });
  }

  private attempts = 0;

  async startPull(): Promise<void> {
    this.attempts += 1;
    const source = {
      replicaId: SOURCE_ID,
      nodeId: SOURCE_ID,
      controlUrl: 'http://source',
      nbdHost: '127.0.0.1',
      nbdPort: (await this.source.open(SOURCE_ID)).nbdPort,
      secret: (await this.source.open(SOURCE_ID)).secret,
    };
    const plan = { method: 'full', reason: 'no_base', heldBytes: 64 * KIB, ranges: null } as const;
    await this.command('pull', {
      epoch: EPOCH,
      rebuildId: REBUILD_ID,
      sources: [source],
      layers: [BASE, GONE].map(({ id, name }) => ({ id, name, ...plan })),
      blockHash: 'blake3',
      tuning: { bandwidthBytesPerSecond: null, paused: false },
      attempt: this.attempts,
    });
  }

  async pullEnds(): Promise<void> {
    let known: PullProgress['state'] = 'copying';
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const wait: ProgressWait = { state: known, atMostMs: 50 };
      const { state, error } = await this.command('progress', { epoch: EPOCH, rebuildId: REBUILD_ID, wait });
      if (state === 'verified') return;
      if (state === 'failed') throw new PullFailed(error?.code ?? 'none');
      known = state;
    }
    throw new Error('the pull never ends');
  }

  async hashed(): Promise<void> {
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const { state, message } = await this.command('hash-layer', {
        epoch: EPOCH,
        layerId: BASE.id,
        force: true,
      });
      if (state === 'done') return;
      // The progress of hashing has a text only: its engine asks again, whatever it was.
      if (state === 'failed') throw new PullFailed(message === '' ? 'none' : 'disk.failed');
      await sleep(1);
    }
    throw new Error('the hashing never ends');
  }

  async purged(): Promise<void> {
    for (let next: number | null = 0, step = 0; next !== null; step += 1) {
      if (step > STEPS_MAX) throw new Error('the purge never ends');
      ({ next } = await this.command('purge', { epoch: EPOCH, layerId: GONE.id, firstWindow: next }));
    }
  }
}

/** The end of work behind an answer, with the code that it is reported by. */
class PullFailed extends Error {
  constructor(readonly code: string) {
    super(`failed with ${code}`);
  }
}

type Row = {
  /** What comes before the command, on a disk that works. */
  readonly arrange?: (copy: CopyAtRisk) => Promise<void>;
  readonly run: (copy: CopyAtRisk) => Promise<unknown>;
  /** The command makes no calls that change the disk. */
  readonly isRead?: true;
  /** Its head is to be empty: nothing is written before it. */
  readonly isUnwritten?: true;
  /** Its caller makes one at a time for each copy. */
  readonly isSerial?: true;
};

const at = { epoch: EPOCH };
const snapshot = (copy: CopyAtRisk, size = SIZE) =>
  copy.command('snapshot', { ...at, layer: NEXT, sizeBytes: size, headId: HEADS[1] });
const pulling = async (copy: CopyAtRisk) => {
  await copy.prepare();
  await copy.startPull();
};
const tuning = { bandwidthBytesPerSecond: null, paused: false };

/** A row for each command of the table, and for what an agent does with whole copies: one that is missing is a type error, and a red suite. */
export const ROWS: { readonly [Name in CommandName | 'create' | 'reopen' | 'remove' | 'expand']: Row } = {
  open: { run: (copy) => copy.command('open', { epoch: EPOCH + 1 }) },
  record: { run: (copy) => copy.command('record', { ...at, record: record(1) }) },
  snapshot: { run: snapshot },
  expand: { run: (copy) => snapshot(copy, 2 * SIZE) },
  unfreeze: {
    isUnwritten: true,
    arrange: async (copy) => void (await snapshot(copy)),
    run: (copy) => copy.command('unfreeze', { ...at, layerId: NEXT.id, headId: HEADS[2] }),
  },
  revert: {
    run: (copy) =>
      copy.command('revert', { ...at, layerId: BASE.id, headId: HEADS[3] ?? '', revertId: REVERT_ID }),
  },
  'mark-removed': { run: (copy) => copy.command('mark-removed', { ...at, layerId: BASE.id }) },
  purge: { run: (copy) => copy.purged() },
  chain: { isRead: true, run: (copy) => copy.command('chain', at) },
  stat: { isRead: true, run: (copy) => copy.command('stat', at) },
  intent: { isRead: true, run: (copy) => copy.command('intent', at) },
  unflushed: { isRead: true, run: (copy) => copy.command('unflushed', { ...at, from: 0 }) },
  'clear-intent': { run: (copy) => copy.command('clear-intent', at) },
  prepare: { run: (copy) => copy.prepare() },
  pull: {
    isUnwritten: true,
    arrange: (copy) => copy.prepare(),
    run: async (copy) => {
      await copy.startPull();
      await copy.pullEnds();
    },
  },
  'tune-pull': {
    isRead: true,
    isUnwritten: true,
    arrange: async (copy) => {
      await pulling(copy);
      await copy.pullEnds();
    },
    run: (copy) => copy.command('tune-pull', { ...at, rebuildId: REBUILD_ID, tuning }),
  },
  progress: {
    isRead: true,
    isUnwritten: true,
    arrange: async (copy) => {
      await pulling(copy);
      await copy.pullEnds();
    },
    run: (copy) => copy.command('progress', { ...at, rebuildId: REBUILD_ID }),
  },
  'cancel-pull': {
    isRead: true,
    isUnwritten: true,
    arrange: async (copy) => {
      await pulling(copy);
      await copy.pullEnds();
    },
    run: (copy) => copy.command('cancel-pull', { ...at, rebuildId: REBUILD_ID }),
  },
  hashes: {
    run: (copy) => copy.command('hashes', { ...at, layerId: BASE.id, firstWindow: 0, endWindow: 64 }),
  },
  'block-hashes': {
    isRead: true,
    run: (copy) =>
      copy.command('block-hashes', {
        ...at,
        layerId: BASE.id,
        blockHash: 'blake3',
        firstWindow: 0,
        endWindow: 64,
      }),
  },
  'range-sums': {
    isRead: true,
    run: (copy) => copy.command('range-sums', { ...at, layerId: BASE.id, first: 0, count: 4 }),
  },
  'hash-layer': { run: (copy) => copy.hashed() },
  create: {
    isSerial: true,
    run: ({ node }) =>
      asDisk(() => Replica.create(node.disk, { ...specOf(OTHER_ID), secret: 'secret', diskId: VOLUME_ID })),
  },
  reopen: {
    isSerial: true,
    run: async ({ node }) => {
      await node.service.close(REPLICA_ID);
      await node.open(REPLICA_ID);
      await node.service.command(REPLICA_ID, 'open', at);
    },
  },
  remove: {
    arrange: async ({ node }) => {
      await node.create(specOf(OTHER_ID));
      await node.service.close(OTHER_ID);
    },
    isSerial: true,
    run: ({ node }) => asDisk(() => withStore(node, (store) => store.remove(OTHER_ID))),
  },
};
/** What an agent does with whole copies is answered with the same codes. */
async function asDisk(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw asDiskRefusal(error);
  }
}

const OTHER_ID = crypto.randomUUID();

async function withStore<T>(
  node: ReplicaNode,
  ask: (store: Awaited<ReturnType<typeof openDiskStore>>) => Promise<T>,
): Promise<T> {
  const store = await openDiskStore(node.disk);
  try {
    return await ask(store);
  } finally {
    await store.close();
  }
}

export type RowName = keyof typeof ROWS;
// The cast: the names of an object's own properties are text to the compiler.
export const ROW_NAMES = Object.keys(ROWS) as readonly RowName[];

/** What a copy is, as far as its engine relies on it: what it reads as, and what it says of itself. */
type State = Readonly<Record<string, unknown>>;

async function stateOf(copy: CopyAtRisk): Promise<State> {
  const replica = await copy.replica();
  const { layers, sizeBytes, rebuildId, epoch, lastRevertId = null } = replica.metadata;
  const content = Buffer.from(contiguous(await replica.read(0, SIZE)));
  const unflushed = content[UNFLUSHED_KIB * KIB];
  content.fill(0, UNFLUSHED_KIB * KIB, (UNFLUSHED_KIB + 64) * KIB);
  return {
    content: crypto.createHash('sha256').update(content).digest('hex'),
    // What only the process of the copy had: where it is gone, the copy has to say so.
    unflushed: unflushed === 0 && !replica.isKept ? 'told to be lost' : unflushed,
    layers: layers.map(({ id, parentId, removed }) => ({ id, parentId, removed })),
    sizeBytes,
    rebuildId,
    epoch,
    lastRevertId,
    record: replica.metadata.record,
    copies: await withStore(copy.node, (store) => store.list()),
  };
}

type Outcome = { readonly done: boolean; readonly code: string | undefined };

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work;
    return { done: true, code: undefined };
  } catch (error) {
    if (error instanceof PullFailed) return { done: false, code: error.code };
    if (isFault(error)) return { done: false, code: error.code };
    return { done: false, code: `no fault: ${error instanceof Error ? error.stack : String(error)}` };
  }
}

/** One call on the disk, in the order in which a command makes them; the tap holds or fails the chosen one. */
class TroubledCalls {
  private count = 0;
  private target = -1;
  private trouble: Trouble | undefined;
  private takesReads = false;
  private isOn = false;
  private release: () => void = () => undefined;
  private caughtNow: () => void = () => undefined;
  readonly seen: string[] = [];
  private readonly tap: FileTap;
  hit: FileCall | undefined;

  constructor(folder: string) {
    this.tap = new FileTap(
      folder,
      () => undefined,
      (call) => this.take(call),
    );
    this.tap.install();
  }

  /** Resolves when the chosen call waits. */
  begin(target: number, trouble: Trouble | undefined): Promise<void> {
    this.target = target;
    this.trouble = trouble;
    this.takesReads = trouble === undefined || trouble === 'EIO';
    this.isOn = true;
    return new Promise((resolve) => {
      this.caughtNow = resolve;
    });
  }

  end(): void {
    this.isOn = false;
    this.release();
  }

  uninstall(): void {
    this.end();
    this.tap.uninstall();
  }

  get calls(): number {
    return this.count;
  }

  private take(call: FileCall): Promise<void> | undefined {
    if (!this.isOn || (call.kind === 'read' && !this.takesReads)) return undefined;
    this.count += 1;
    if (this.trouble === undefined) this.seen.push(call.kind);
    if (this.count !== this.target || this.trouble === undefined) return undefined;
    this.hit = call;
    const { trouble } = this;
    if (trouble === 'late' || trouble === 'taken over') {
      this.isOn = false;
      return new Promise((resolve) => {
        this.release = resolve;
        this.caughtNow();
      });
    }
    const error = new Error(`${trouble}: planted, ${call.kind}`);
    return Promise.reject(Object.assign(error, { code: trouble, errno: -ERRNOS[trouble] }));
  }
}

/** What a cell of the matrix has shown. Empty: all rules hold. */
export type Breaches = readonly string[];

export type Counted = {
  readonly before: State;
  readonly after: State;
  /** Of all calls, and of those that are no reads. */
  readonly calls: number;
  readonly changes: number;
};

/** Copies to break, each made of one template. */
export class CommandMatrix {
  private template = '';
  private source: ReplicaNode | undefined;
  private cells = 0;

  constructor(private readonly nodes: ReplicaNodes) {}

  async prepare(): Promise<void> {
    this.source = await this.nodes.add('source');
    await this.source.create(specOf(SOURCE_ID));
    await fill(this.source, SOURCE_ID);
    const node = await this.nodes.add('template');
    await node.create(specOf(REPLICA_ID));
    await fill(node, REPLICA_ID);
    await node.stop();
    this.template = node.disk;
  }

  /** Runs the row on a disk that works, and counts the calls. */
  async count(name: RowName): Promise<Counted> {
    return this.withCopy(name, async (copy, calls) => {
      const before = await stateOf(copy);
      void calls.begin(-1, undefined);
      await ROWS[name].run(copy);
      calls.end();
      const changes = calls.seen.filter((kind) => kind !== 'read').length;
      return { before, after: await stateOf(copy), calls: calls.calls, changes };
    });
  }

  /** Fails the n-th call of the row, and says which rules do not hold. */
  async cell(name: RowName, target: number, trouble: Trouble, counted: Counted): Promise<Breaches> {
    return this.withCopy(name, async (copy, calls) => {
      const cell = new Cell(name, trouble, counted, copy, calls);
      await cell.run(target);
      return cell.breaches.map(
        (breach) => `${name}, call ${target} ${describeCall(calls.hit)}, ${trouble}: ${breach}`,
      );
    });
  }

  private async withCopy<T>(
    name: RowName,
    use: (copy: CopyAtRisk, calls: TroubledCalls) => Promise<T>,
  ): Promise<T> {
    if (this.source === undefined) throw new Error('nothing is prepared');
    this.cells += 1;
    const node = await this.nodes.add(`cell-${this.cells}`);
    await fs.rm(node.disk, { recursive: true, force: true });
    await fs.cp(this.template, node.disk, { recursive: true });
    // Before anything is opened: it knows only files that were opened under it.
    const calls = new TroubledCalls(node.disk);
    try {
      const copy = await CopyAtRisk.open(node, this.source);
      const row = ROWS[name];
      await row.arrange?.(copy);
      // Acknowledged, and covered by no flush.
      if (row.isUnwritten !== true) await copy.write(UNFLUSHED_KIB, 9);
      return await use(copy, calls);
    } finally {
      calls.uninstall();
      await node.stop().catch(() => undefined);
      await fs.rm(node.disk, { recursive: true, force: true });
    }
  }
}

async function fill(node: ReplicaNode, replicaId: string): Promise<void> {
  const ask = <Name extends CommandName>(name: Name, what: Ask<Name>) =>
    node.service.command(replicaId, name, what);
  await ask('open', at);
  const replica = await node.replica(replicaId);
  for (const [index, block] of BLOCKS.entries()) {
    await replica.write(index * 128 * KIB, [block], block.length, { fua: true, epoch: EPOCH });
    const layer = [BASE, GONE, LAST][index];
    if (layer !== undefined)
      await ask('snapshot', { ...at, layer, sizeBytes: SIZE, headId: HEADS[4 + index] });
  }
  await ask('mark-removed', { ...at, layerId: GONE.id });
}

function describeCall(call: FileCall | undefined): string {
  if (call === undefined) return '(never made)';
  const path = 'file' in call ? call.file.path : 'path' in call ? call.path : call.from;
  return `(${call.kind} of ${path
    .split('/')
    .slice(-1)[0]
    ?.replace(/^[0-9a-f-]{36}/, '…')})`;
}

class Cell {
  readonly breaches: string[] = [];
  /** Set when the copy has ended: it is then reopened, as after a crash. */
  private mayHaveLost: boolean;

  constructor(
    private readonly name: RowName,
    private readonly trouble: Trouble,
    private readonly counted: Counted,
    private readonly copy: CopyAtRisk,
    private readonly calls: TroubledCalls,
  ) {
    this.mayHaveLost = name === 'reopen';
  }

  async run(target: number): Promise<void> {
    const { trouble, copy, calls } = this;
    const { run } = ROWS[this.name];
    const caught = calls.begin(target, trouble);
    const first = outcomeOf(run(copy));
    if (trouble === 'taken over') await this.takeOver(caught, first);
    else if (trouble === 'late') await this.repeatLate(caught, first);
    else await this.repeat(first, target);
    calls.end();
    await this.reopen();
  }

  /** Once refused, the command succeeds as soon as the disk works. */
  private async repeat(first: Promise<Outcome>, target: number): Promise<void> {
    const outcome = await first;
    this.calls.end();
    this.requireStable(outcome);
    const hasEnded = await this.isEnded();
    this.mayHaveLost ||= hasEnded;
    if (hasEnded && !this.mayEnd())
      this.breaches.push('the copy was given up for a change that was refused whole');
    if (!hasEnded) {
      const state = await this.state();
      if (outcome.done) this.requireEqual('after it was done', state, [this.counted.after]);
      else this.requireEqual('after the refusal', state, [this.counted.before, this.counted.after]);
    }
    // Of two troubles of a call one is followed by the end of the process: it has to find what was answered.
    if ((target + TROUBLES.indexOf(this.trouble)) % 2 === 0) await this.succeeds();
  }

  private async repeatLate(caught: Promise<void>, first: Promise<Outcome>): Promise<void> {
    await Promise.race([caught, first]);
    // The caller has given up, and asks again while the first one still waits.
    const { run, isSerial } = ROWS[this.name];
    const second = outcomeOf(isSerial === true ? first.then(() => run(this.copy)) : run(this.copy));
    this.calls.end();
    for (const outcome of await Promise.all([first, second])) this.requireStable(outcome);
    await this.succeeds();
  }

  private async takeOver(caught: Promise<void>, first: Promise<Outcome>): Promise<void> {
    await Promise.race([caught, first]);
    const opened = outcomeOf(this.copy.command('open', { epoch: EPOCH + 2 }));
    this.calls.end();
    this.requireStable(await first);
    const { code } = await opened;
    // Where the copy itself was being reopened, its next engine asks again.
    if (code !== undefined && code !== 'replica.not_found')
      this.breaches.push(`the next engine is refused with ${code}`);
    const epoch = EPOCH + 2;
    const either = [this.counted.before, this.counted.after].map((state) => ({ ...state, epoch }));
    if (code === undefined) this.requireEqual('for the next engine', await this.state(), either);
  }

  private async succeeds(): Promise<void> {
    this.mayHaveLost ||= await this.isEnded();
    await this.copy.reopenIfEnded().catch(() => this.copy.node.open(REPLICA_ID));
    const outcome = await outcomeOf(this.repeatAsEngine());
    if (!outcome.done) this.breaches.push(`its repeat on a disk that works is refused with ${outcome.code}`);
    else this.requireEqual('after the repeat', await this.state(), [this.counted.after]);
  }

  private async repeatAsEngine(): Promise<void> {
    const { run, arrange } = ROWS[this.name];
    // A target's pull lives in its process: after a reopening the rebuild begins again.
    if (this.name === 'pull' && (await this.copy.replica()).metadata.rebuildId === null)
      await arrange?.(this.copy);
    await run(this.copy);
  }

  /** Whatever was answered, another process finds a copy with all that was acknowledged. */
  private async reopen(): Promise<void> {
    const { node } = this.copy;
    const hasEnded = await this.isEnded();
    const either = [this.counted.before, this.counted.after];
    // Pulled data is not acknowledged before the flush at the end of the pull.
    const now = async () => (this.name === 'pull' ? [await this.state(), ...either] : [await this.state()]);
    const allowed = hasEnded ? either : await now();
    await node.service.close(REPLICA_ID);
    try {
      await node.open(REPLICA_ID);
      this.requireEqual('for the next process', await this.state(), allowed);
      const { isClean } = await this.copy.replica();
      if (isClean && !this.mayBeClean()) this.breaches.push('marks of unproven writes are gone');
    } catch (error) {
      this.breaches.push(`the next process can not open it: ${String(error)}`);
    }
  }

  private mayBeClean(): boolean {
    return this.name === 'clear-intent' || ROWS[this.name].isUnwritten === true || this.name === 'prepare';
  }

  /** What the disk holds is unknown after a failed sync, and where a name or a text in place may or may not have changed. */
  private mayEnd(): boolean {
    const { hit } = this.calls;
    if (hit === undefined || this.name === 'reopen') return true;
    if (this.trouble === 'EIO' || hit.kind === 'sync') return true;
    return false;
  }

  private async isEnded(): Promise<boolean> {
    return this.copy.replica().then(
      ({ hasEnded }) => hasEnded,
      () => true,
    );
  }

  private async state(): Promise<State> {
    try {
      return await stateOf(this.copy);
    } catch (error) {
      return { unreadable: String(error) };
    }
  }

  private requireStable({ code }: Outcome): void {
    if (code !== undefined && !Object.hasOwn(FAULTS, code)) this.breaches.push(`it is answered with ${code}`);
  }

  private requireEqual(when: string, state: State, allowed: readonly State[]): void {
    const lost =
      state.unflushed === 'told to be lost' && this.mayHaveLost ? [{ unflushed: state.unflushed }] : [];
    const texts = allowed
      .flatMap((one) => [one, ...lost.map((part) => ({ ...one, ...part }))])
      .map((one) => JSON.stringify(one));
    if (texts.includes(JSON.stringify(state))) return;
    const differing = Object.keys(state).filter((key) =>
      allowed.every((one) => JSON.stringify(one[key]) !== JSON.stringify(state[key])),
    );
    this.breaches.push(
      `${when} it differs in ${differing.join() || 'the combination'}: ${differing
        .map((key) => JSON.stringify(state[key]))
        .join()
        .slice(0, 300)}`,
    );
  }
}
