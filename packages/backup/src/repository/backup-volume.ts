/**
 * Makes one backup: reads blocks, stores those whose content the repository does not have, and records the map.
 *
 * A crash at any moment leaves packs that nothing names, or that an index names and no backup uses: a later run finds their blobs there, and a
 * prune removes what stays unused. The backup exists from the record `backup-added` on, and is whole then.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BlockMap, blocksOf, HOLE, HOLE_SEGMENT, isHole, segmentsOf } from '../codec/segments.js';
import {
  type BackupSummary,
  BLOB_KIND,
  FORMAT_NAME,
  FORMAT_VERSION,
  type Manifest,
  VOLUME_BYTES_MAX,
} from '../model/format.js';
import { packObject } from '../model/names.js';
import { planCommit } from '../rules/plan-commit.js';
import { blocksToRead, type ChangedRange } from '../rules/plan-reads.js';
import { isAbandoned } from '../rules/repository-state.js';
import { BackupReader } from './backup-reader.js';
import { inLanes } from './in-lanes.js';
import type { Repository } from './repository.js';
import type { RunWriter, WrittenIndex } from './run-writer.js';

/** A snapshot, which stays as it is while it is read. */
export interface BlockSource {
  readonly sizeBytes: number;
  /** @returns exactly so many bytes, in memory that the backup may keep and move to another thread */
  read(offset: number, lengthBytes: number): Promise<Buffer>;
}

export type BackupRequest = {
  readonly source: BlockSource;
  readonly volumeId: string;
  readonly volumeName: string;
  readonly snapshotName: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** A backup of the same volume, and all that may have been changed between its snapshot and this one. Left out: everything is read. */
  readonly base?: { readonly backupId: string; readonly changed: readonly ChangedRange[] };
  readonly lockedUntil?: Date;
  /** Left out: random. A caller that names it can ask whether an attempt whose answer it lost has ended well. */
  readonly backupId?: string;
  /** Packs after which what was stored is recorded, so that a run that is cut short is not in vain; left out: 24. */
  readonly tellEveryPacks?: number;
  readonly onProgress?: (progress: { readonly readBytes: number; readonly totalBytes: number }) => void;
  readonly signal?: AbortSignal;
};

/** At 64 MiB each an index is written after 1.5 GiB: a call or two for each GiB. */
const TOLD_EVERY_PACKS = 24;
/** Attempts to have all blocks at the target at once, while packs are lost or die in a prune. */
const ATTEMPTS = 8;
/** Packs whose lock is lengthened at once. */
const LOCKS_AT_ONCE = 8;

export async function backupVolume(repository: Repository, request: BackupRequest): Promise<BackupSummary> {
  return new BackupRun(repository, request).run();
}

class BackupRun {
  private readonly writer: RunWriter;
  private readonly map: BlockMap;
  private readonly blockBytes: number;
  private readonly backupId: string;
  private readBytes = 0;
  private totalBytes = 0;
  /** Contents that are being sealed: a second block of the same content waits for the first. */
  private readonly underway = new Map<string, Promise<void>>();
  private telling: Promise<void> | undefined;

  constructor(
    private readonly repository: Repository,
    private readonly request: BackupRequest,
  ) {
    if (request.source.sizeBytes > VOLUME_BYTES_MAX || request.source.sizeBytes <= 0)
      throw new StorageFault('backup.too_large', {
        publicMessage: 'no volume of this size can be backed up',
      });
    this.writer = repository.newRun(request.lockedUntil);
    this.blockBytes = repository.facts.blockBytes;
    this.map = new BlockMap(blocksOf(request.source.sizeBytes, this.blockBytes));
    this.backupId = request.backupId ?? repository.randomId(16);
  }

  async run(): Promise<BackupSummary> {
    await this.repository.refresh();
    const known = this.repository.state.backups.get(this.backupId);
    if (known !== undefined) return known;
    await this.store(await this.plan());
    return this.commit();
  }

  private async plan(): Promise<number[]> {
    const { source, base } = this.request;
    if (base === undefined) return blocksToRead(source.sizeBytes, this.blockBytes);
    const older = await BackupReader.open(this.repository, base.backupId);
    if (older.manifest.backup.volumeId !== this.request.volumeId)
      throw new StorageFault('request.invalid', { publicMessage: 'the base is a backup of another volume' });
    for (let block = 0; block < Math.min(this.map.blocks, older.map.blocks); block += 1)
      this.map.set(block, older.map.idOf(block));
    const given = { sizeBytes: older.sizeBytes, changed: base.changed };
    return blocksToRead(source.sizeBytes, this.blockBytes, given);
  }

  private async store(blocks: readonly number[]): Promise<void> {
    this.totalBytes += blocks.length * this.blockBytes;
    await inLanes(blocks, this.repository.coder.parallel, async (block) => {
      this.request.signal?.throwIfAborted();
      await this.storeBlock(block);
      this.readBytes += this.blockBytes;
      this.request.onProgress?.({ readBytes: this.readBytes, totalBytes: this.totalBytes });
      if (this.writer.untoldPacks >= (this.request.tellEveryPacks ?? TOLD_EVERY_PACKS)) await this.tellOnce();
    });
  }

  private async storeBlock(block: number): Promise<void> {
    const { source } = this.request;
    const offset = block * this.blockBytes;
    const bytes = await source.read(offset, Math.min(this.blockBytes, source.sizeBytes - offset));
    const idKey = this.repository.keys.idKeys()[BLOB_KIND.block];
    const { id, bytes: back } = await this.repository.coder.identify(idKey, bytes);
    this.map.set(block, id ?? HOLE);
    if (id !== undefined) await this.storeOnce(id, back);
  }

  private async storeOnce(id: Buffer, bytes: Buffer): Promise<void> {
    const name = id.toString('latin1');
    const first = this.underway.get(name);
    if (first !== undefined) return first;
    if (this.has(id)) return;
    const work = this.seal(id, bytes).finally(() => this.underway.delete(name));
    this.underway.set(name, work);
    return work;
  }

  private async seal(id: Buffer, bytes: Buffer): Promise<void> {
    const { runKey } = this.writer;
    const task = { runKey, number: this.writer.nextBlobNumber(), id, kind: BLOB_KIND.block };
    await this.writer.add(id, BLOB_KIND.block, await this.repository.coder.seal(task, bytes));
  }

  private has(id: Uint8Array): boolean {
    return this.writer.blobs.has(id) || this.repository.blobs.has(id);
  }

  private async tellOnce(): Promise<void> {
    this.telling ??= this.tell().finally(() => {
      this.telling = undefined;
    });
    await this.telling;
  }

  /** Records what was uploaded so far. What was lost is found missing when the backup is to be committed. */
  private async tell(): Promise<void> {
    await this.writer.settle();
    const written = await this.writer.writeIndexes();
    if (written.length === 0) return;
    const { run } = this.writer;
    const indexes = written.map(({ reference }) => reference);
    await this.repository.journal.append((state) => {
      if (isAbandoned(state, run)) throw abandoned();
      return { kind: 'index-added', run, indexes };
    });
    await this.told(written);
  }

  private async told(written: readonly WrittenIndex[]): Promise<void> {
    this.writer.told();
    for (const index of written) this.repository.adopt(index);
    await this.repository.sync();
  }

  private async commit(): Promise<BackupSummary> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await this.storeMissing();
      const segments = await this.storeSegments();
      if ((await this.writer.settle()) > 0) continue;
      const done = await this.record(segments);
      if (done !== undefined) return done;
    }
    throw new StorageFault('backup.busy', {
      publicMessage: 'the target lost what was stored, or prunes were faster, each time',
    });
  }

  /** Reads blocks again whose content is not at the target any more. */
  private async storeMissing(): Promise<void> {
    const missing: number[] = [];
    for (let block = 0; block < this.map.blocks; block += 1) {
      const id = this.map.idOf(block);
      if (!isHole(id) && !this.has(id)) missing.push(block);
    }
    await this.store(missing);
  }

  private async storeSegments(): Promise<string[]> {
    const idKey = this.repository.keys.idKeys()[BLOB_KIND.segment];
    const { runKey } = this.writer;
    const segments: string[] = [];
    for (let segment = 0; segment < segmentsOf(this.map.blocks); segment += 1) {
      const bytes = Buffer.from(this.map.segment(segment));
      const { id, bytes: back } = await this.repository.coder.identify(idKey, bytes);
      segments.push(id?.toString('hex') ?? HOLE_SEGMENT);
      if (id === undefined || this.has(id)) continue;
      const task = { runKey, number: this.writer.nextBlobNumber(), id, kind: BLOB_KIND.segment };
      await this.writer.add(id, BLOB_KIND.segment, await this.repository.coder.seal(task, back));
    }
    return segments;
  }

  /** @returns `undefined` where something that the backup refers to has gone meanwhile */
  private async record(segments: readonly string[]): Promise<BackupSummary | undefined> {
    const written = await this.writer.writeIndexes();
    const indexes = written.map(({ reference }) => reference);
    const backup = this.summary();
    const manifest = await this.writer.writeManifest(this.manifestOf(backup, segments));
    await this.lockPacks(segments);
    const { run } = this.writer;
    const body = await this.repository.journal.append(async (state) => {
      // Others may have appended since: their packs, and their prunes, count.
      await this.repository.sync();
      const used = this.usedPacks(segments);
      if (used === undefined || state.backups.has(this.backupId)) return undefined;
      const plan = planCommit(state, run, used);
      if (plan.kind === 'abandoned') throw abandoned();
      return { kind: 'backup-added', run, backup, manifest, indexes, rescued: plan.rescued };
    });
    if (body !== undefined) await this.told(written);
    return this.repository.state.backups.get(this.backupId);
  }

  /** All packs that the backup refers to; `undefined`: some blob is nowhere. */
  private usedPacks(segments: readonly string[]): Set<string> | undefined {
    const used = new Set<string>();
    const add = (id: Uint8Array): boolean => {
      const at = this.writer.blobs.find(id) ?? this.repository.blobs.find(id);
      if (at !== undefined) used.add(at.pack);
      return at !== undefined;
    };
    for (let block = 0; block < this.map.blocks; block += 1)
      if (!this.map.isHole(block) && !add(this.map.idOf(block))) return undefined;
    for (const segment of segments)
      if (segment !== HOLE_SEGMENT && !add(Buffer.from(segment, 'hex'))) return undefined;
    return used;
  }

  /** Blocks that older backups stored are locked for as long as this one is. */
  private async lockPacks(segments: readonly string[]): Promise<void> {
    const { lockedUntil } = this.request;
    const { store } = this.repository;
    if (lockedUntil === undefined || store.lock === undefined) return;
    const packs = [...(this.usedPacks(segments) ?? [])].filter((pack) => !pack.startsWith(this.writer.run));
    await inLanes(packs, LOCKS_AT_ONCE, async (pack) => store.lock?.(packObject(pack), lockedUntil));
  }

  private summary(): BackupSummary {
    const { source, volumeId, volumeName, snapshotName, labels = {}, lockedUntil } = this.request;
    let held = 0;
    for (let block = 0; block < this.map.blocks; block += 1) if (!this.map.isHole(block)) held += 1;
    return {
      id: this.backupId,
      volumeId,
      volumeName,
      snapshotName,
      sizeBytes: source.sizeBytes,
      createdAt: this.repository.now.toISOString(),
      labels,
      dataBytes: Math.min(source.sizeBytes, held * this.blockBytes),
      addedBytes: this.writer.addedBytes,
      ...(lockedUntil === undefined ? {} : { lockedUntil: lockedUntil.toISOString() }),
    };
  }

  private manifestOf(backup: BackupSummary, segments: readonly string[]): Manifest {
    const { repositoryId } = this.repository.facts;
    return {
      format: FORMAT_NAME,
      version: FORMAT_VERSION,
      repositoryId,
      backup,
      blockBytes: this.blockBytes,
      segments,
    };
  }
}

const abandoned = () =>
  new StorageFault('backup.busy', {
    publicMessage: 'the backup took so long that a prune gave it up; it begins again from what was recorded',
  });
