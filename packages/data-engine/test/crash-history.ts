/** A history of operations on a recorded copy, with the promises that hold from each moment on. */
import crypto from 'node:crypto';
import { type CopyRecord, compareRecords } from '@holdfast/core/model/copy-record.js';
import { BlockModel } from '@holdfast/testkit/block-model.js';
import { contiguous } from '../src/nbd/export.js';
import { Replica } from '../src/replica/replica.js';
import type { CrashRecorder } from './crash-recorder.js';

const BLOCK_BYTES = 4096;
/** The part of the device that is written and compared. */
const WINDOW_BYTES = 32 * BLOCK_BYTES;

const SPENT_BYTES = 2 ** 20;

/** What must hold of the copy after a power cut between this moment and the next one. */
type Promised = {
  at: number;
  exists: boolean;
  blocks: readonly (readonly Buffer[])[];
  sizes: readonly number[];
  epoch: number;
  record: CopyRecord | null;
  /** True while the copy is a rebuild target, from the very start on: its bytes are then not promised. */
  isTarget: boolean;
  /** Contents that the window may have while its region carries no write-intent mark. */
  clean: readonly Buffer[];
  /** Frozen layers that must exist, and those that may; each with its content. */
  snapshots: ReadonlyMap<string, Buffer>;
  perhaps: ReadonlyMap<string, Buffer>;
};

/** What is found of the copy on a disk after a cut. */
type FoundCopy = {
  epoch: number;
  record: CopyRecord | null;
  sizeBytes: number;
  isClean: boolean;
  contents: Buffer;
  /** Frozen layers with their content. */
  snapshots: ReadonlyMap<string, Buffer>;
};
export type Found = FoundCopy | { error: string };

export class CrashHistory {
  readonly replicaId = crypto.randomUUID();
  private readonly model = new BlockModel(WINDOW_BYTES);
  private readonly promises: Promised[] = [];
  private state: Omit<Promised, 'at' | 'blocks'>;
  private opened: Replica | undefined;
  private spent = 0;

  constructor(
    private readonly disk: string,
    private readonly recorder: CrashRecorder,
    private readonly sizeBytes: number,
  ) {
    this.state = {
      exists: false,
      sizes: [sizeBytes],
      epoch: 0,
      record: null,
      isTarget: false,
      clean: [Buffer.alloc(WINDOW_BYTES)],
      snapshots: new Map(),
      perhaps: new Map(),
    };
    this.promise();
  }

  get replica(): Replica {
    if (this.opened === undefined) throw new Error('the copy is not open');
    return this.opened;
  }

  async create(): Promise<void> {
    const { replicaId, sizeBytes } = this;
    const [volumeId, diskId] = [crypto.randomUUID(), crypto.randomUUID()];
    await Replica.create(this.disk, {
      replicaId,
      volumeId,
      diskId,
      sizeBytes,
      secret: 'a-secret-of-sixteen',
      record: recordOf(0),
    });
    this.promise({ exists: true, record: recordOf(0) });
    this.opened = await Replica.open(this.disk, replicaId);
    await this.open(1);
  }

  /** Opens the copy in another process, with nothing in memory. */
  async reopen(): Promise<void> {
    await this.replica.close();
    this.opened = await Replica.open(this.disk, this.replicaId);
  }

  async open(epoch: number): Promise<void> {
    await this.replica.fence(epoch);
    this.promise({ epoch });
    await this.replica.storeRecord(recordOf(epoch));
    this.promise({ record: recordOf(epoch) });
  }

  async write(block: number, bytes: Buffer, fua = false): Promise<void> {
    const offset = block * BLOCK_BYTES;
    this.model.writing(offset, bytes);
    this.promise();
    await this.replica.write(offset, [bytes], bytes.length, { fua, epoch: this.state.epoch });
    if (fua) this.model.wroteForGood(offset, bytes);
    else this.model.wrote(offset, bytes);
    this.promise();
  }

  /** Allocates a MiB of space outside the compared window. */
  async spend(): Promise<void> {
    this.spent += SPENT_BYTES;
    const options = { fua: false, epoch: this.state.epoch };
    await this.replica.write(this.spent, [Buffer.alloc(SPENT_BYTES, 0xee)], SPENT_BYTES, options);
  }

  /** Frees the space that was allocated last, with content other than zeros. */
  async giveBack(): Promise<void> {
    const options = { fua: false, mayPunch: true, epoch: this.state.epoch };
    await this.replica.writeZeroes(this.spent, SPENT_BYTES, options);
    await this.replica.flush();
  }

  async zero(block: number, count: number): Promise<void> {
    const offset = block * BLOCK_BYTES;
    const zeros = Buffer.alloc(count * BLOCK_BYTES);
    this.model.writing(offset, zeros);
    this.promise();
    const options = { fua: false, mayPunch: true, epoch: this.state.epoch };
    await this.replica.writeZeroes(offset, zeros.length, options);
    this.model.wrote(offset, zeros);
    this.promise();
  }

  async flush(): Promise<void> {
    const moment = this.model.moment(true);
    await this.replica.flush();
    this.model.flushed(moment);
    this.promise();
  }

  async clearIntent(): Promise<void> {
    const now = this.model.contents();
    this.promise({ clean: [...this.state.clean, now] });
    await this.replica.clearIntent();
    this.model.replace(now);
    this.promise({ clean: [now] });
  }

  async snapshot(id: string, sizeBytes = this.sizeBytes): Promise<void> {
    const now = this.model.contents();
    this.promise({ perhaps: new Map([[id, now]]), sizes: [...this.state.sizes, sizeBytes] });
    const layer = { id, name: id, origin: 'user' as const, createdAt: '', drop: null };
    await this.replica.layers.snapshot(layer, sizeBytes);
    this.model.replace(now);
    const snapshots = new Map([...this.state.snapshots, [id, now] as const]);
    this.promise({ perhaps: new Map(), snapshots, sizes: [sizeBytes] });
  }

  async revert(id: string): Promise<void> {
    const then = this.state.snapshots.get(id) ?? Buffer.alloc(0);
    this.model.writing(0, then);
    this.promise();
    await this.replica.layers.revert(id, crypto.randomUUID());
    this.model.replace(then);
    this.promise();
  }

  async purge(id: string): Promise<void> {
    const snapshots = new Map(this.state.snapshots);
    snapshots.delete(id);
    // A layer that is being purged is no longer read on its own.
    this.promise({ snapshots });
    await this.replica.layers.markRemoved(id);
    for (let next: number | null = 0; next !== null; ) next = await this.replica.layers.purge(id, next);
    this.promise();
  }

  /** Makes the copy a rebuild target that starts from what it has. */
  async prepare(): Promise<void> {
    this.promise({ isTarget: true });
    const { layers } = this.replica.metadata;
    const adopted = layers
      .slice(0, -1)
      .map(({ file: _, checksum: __, ...layer }) => ({ ...layer, from: layer.id }));
    const parent = layers.at(-1)?.parentId ?? null;
    await this.replica.layers.prepare(crypto.randomUUID(), adopted, parent, this.replica.sizeBytes);
    this.promise({ record: null });
  }

  /** Opens what a cut left on a disk, as the next process would, and reads everything that is promised of it. */
  async look(disk: string): Promise<Found> {
    let replica: Replica;
    try {
      replica = await Replica.open(disk, this.replicaId);
    } catch (error) {
      return { error: String(error) };
    }
    try {
      const { epoch, record, layers } = replica.metadata;
      const snapshots = new Map<string, Buffer>();
      for (const { id } of layers.slice(0, -1)) {
        snapshots.set(id, await contentsOf(replica.chainUpTo(id)));
      }
      const { sizeBytes, isClean } = replica;
      return { epoch, record, sizeBytes, isClean, contents: await contentsOf(replica), snapshots };
    } finally {
      await replica.close();
    }
  }

  /** @returns what is wrong with the copy that a cut at that moment left; empty if nothing is */
  judge(at: number, found: Found): string {
    const promised = this.promises.findLast((one) => one.at < at);
    if (promised === undefined) return '';
    if ('error' in found) return promised.exists ? `it does not open: ${found.error}` : '';
    return wrongWith(found, promised) ?? '';
  }

  private promise(change: Partial<typeof this.state> = {}): void {
    this.state = { ...this.state, ...change };
    this.promises.push({ ...this.state, blocks: this.model.possibleContents(), at: this.recorder.now() });
  }
}

async function contentsOf(device: Pick<Replica, 'read'>): Promise<Buffer> {
  return Buffer.from(contiguous(await device.read(0, WINDOW_BYTES)));
}

function wrongWith(found: FoundCopy, promised: Promised): string | undefined {
  const { epoch, record, contents } = found;
  if (epoch < promised.epoch) return `its epoch went back to ${epoch}`;
  if (promised.record !== null && !promised.isTarget) {
    if (record === null || compareRecords(record, promised.record) < 0) return 'its record went back';
  }
  if (promised.isTarget)
    return promised.record === null && record !== null ? 'it takes itself for whole' : undefined;
  if (!promised.sizes.includes(found.sizeBytes)) return `its size is ${found.sizeBytes}`;
  const wrong = promised.blocks.flatMap((possible, index) => {
    const block = contents.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
    return possible.some((bytes) => bytes.equals(block)) ? [] : [index];
  });
  if (wrong.length > 0) return `blocks ${wrong} hold what they must not`;
  if (found.isClean && !promised.clean.some((bytes) => bytes.equals(contents)))
    return 'a change is not marked';
  for (const [id, expected] of [...promised.snapshots, ...promised.perhaps]) {
    const held = found.snapshots.get(id);
    if (held === undefined) {
      if (promised.snapshots.has(id)) return `the snapshot ${id} is gone`;
      continue;
    }
    if (!held.equals(expected)) return `the snapshot ${id} reads otherwise`;
  }
  return undefined;
}

function recordOf(epoch: number): CopyRecord {
  // The cast: any well-formed id will do.
  return {
    epoch,
    dataGeneration: epoch === 0 ? 0 : 1,
    members: [crypto.randomUUID()],
  } as unknown as CopyRecord;
}
