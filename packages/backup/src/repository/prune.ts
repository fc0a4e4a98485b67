/**
 * Frees what no backup uses, in two phases and without a lock. First packs are condemned, by a record of the journal: a backup that is committed
 * later and refers to one of them says so in its own record, and the pack stays. What is still condemned after the grace time is taken out of the
 * indexes by a second record, and only then are objects deleted. A crash between any two calls leaves objects that the next prune deletes.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { type BlobKind, type ChangeBody, PACK_BYTES_MIN } from '../model/format.js';
import { CHECKPOINT_PREFIX, DATA_PREFIX } from '../model/names.js';
import { planDeletion } from '../rules/plan-deletion.js';
import { type PruneLimits, planPrune } from '../rules/plan-prune.js';
import { isAbandoned, objectsLeftBehind, runsToAbandon } from '../rules/repository-state.js';
import type { ObjectInfo } from '../store/object-store.js';
import { readBlobs } from './blob-reader.js';
import { inLanes } from './in-lanes.js';
import { Marks, packUses } from './marks.js';
import type { Repository } from './repository.js';
import type { RunWriter, WrittenIndex } from './run-writer.js';

export type PruneOptions = Partial<PruneLimits> & {
  /** How long a run that wrote nothing is taken to be alive: longer than any backup takes between two packs. */
  readonly orphanAgeMs?: number;
};

export type PruneReport = {
  readonly condemnedPacks: number;
  readonly copiedBytes: number;
  readonly deletedObjects: number;
  readonly deletedBytes: number;
  /** Objects that an object lock keeps; the next prune tries again. */
  readonly lockedObjects: number;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS: Required<PruneOptions> = {
  graceMs: DAY_MS,
  orphanAgeMs: 2 * DAY_MS,
  liveShareMin: 0.6,
  smallBytes: PACK_BYTES_MIN,
  smallPacksMax: 8,
  copyBytesMax: 16 * 1024 ** 3,
};
/** Attempts while backups are committed meanwhile: each attempt looks at what they use. */
const ATTEMPTS = 5;
const DELETES_AT_ONCE = 8;
/** Objects that one record names as gone: it stays below its bound. */
const GONE_MAX = 10_000;

/** @throws StorageFault `backup.not_found`, `backup.locked` */
export async function deleteBackup(repository: Repository, backupId: string): Promise<void> {
  let isDeleted = false;
  await repository.journal.append((state): ChangeBody | undefined => {
    const plan = planDeletion(state, backupId, repository.now);
    if (plan.kind === 'delete') {
      isDeleted = true;
      return { kind: 'backup-deleted', backupId };
    }
    // Our own record, whose answer was lost, may have done it already.
    if (isDeleted) return undefined;
    if (plan.kind === 'unknown')
      throw new StorageFault('backup.not_found', { publicMessage: `there is no backup ${backupId}` });
    throw new StorageFault('backup.locked', {
      publicMessage: `backup ${backupId} is locked until ${plan.until}`,
    });
  });
  await repository.sync();
}

export async function prune(repository: Repository, options: PruneOptions = {}): Promise<PruneReport> {
  return new Prune(repository, { ...LIMITS, ...options }).run();
}

class Prune {
  private condemnedPacks = 0;
  private copiedBytes = 0;
  private deletedObjects = 0;
  private deletedBytes = 0;
  private lockedObjects = 0;
  private readonly writer: RunWriter;

  constructor(
    private readonly repository: Repository,
    private readonly limits: Required<PruneOptions>,
  ) {
    this.writer = repository.newRun();
  }

  async run(): Promise<PruneReport> {
    await this.repository.reload();
    await this.repository.steadily(() => this.condemn());
    await this.repository.steadily(() => this.bury());
    await this.abandon();
    await this.sweep();
    const { condemnedPacks, copiedBytes, deletedObjects, deletedBytes, lockedObjects } = this;
    return { condemnedPacks, copiedBytes, deletedObjects, deletedBytes, lockedObjects };
  }

  /** Condemns what nothing uses, and packs of which little is in use once that is copied. */
  private async condemn(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const decidedAt = this.repository.state.sequence;
      const marks = await Marks.of(this.repository);
      const uses = packUses(this.repository, marks);
      const plan = planPrune(uses, this.repository.state.condemned, this.repository.now, this.limits);
      if (plan.condemn.length + plan.copy.length === 0) return;
      await this.copy(plan.copy, marks);
      // What was lost on the way is still where it was: such a pack is left for the next time.
      if ((await this.writer.settle()) > 0) continue;
      const written = await this.writer.writeIndexes();
      const packs = [...plan.condemn, ...plan.copy];
      if (await this.recordCondemned(packs, written, decidedAt)) return;
      await this.repository.reload();
    }
  }

  private async recordCondemned(
    packs: readonly string[],
    written: readonly WrittenIndex[],
    decidedAt: number,
  ): Promise<boolean> {
    const { run } = this.writer;
    const indexes = written.map(({ reference }) => reference);
    const body = await this.repository.journal.append((state) => {
      // A backup that was committed since may use what was decided about.
      if (state.sequence !== decidedAt || isAbandoned(state, run)) return undefined;
      return { kind: 'packs-condemned', run, packs, indexes };
    });
    if (body === undefined) return false;
    this.condemnedPacks += packs.length;
    this.writer.told();
    await this.repository.reload();
    return true;
  }

  private async copy(packs: readonly string[], marks: Marks): Promise<void> {
    const chosen = new Set(packs);
    const wanted: { id: Uint8Array; item: { id: Buffer; kind: BlobKind } }[] = [];
    for (const { id, pack, kind, isLive } of marks.entries()) {
      if (!chosen.has(pack) || !isLive || this.writer.blobs.has(id)) continue;
      // A copy of the id: the table's memory moves when it grows.
      const own = Buffer.from(id);
      wanted.push({ id: own, item: { id: own, kind } });
    }
    const { runKey } = this.writer;
    await readBlobs(this.repository, wanted, async ({ id, kind }, bytes) => {
      const task = { runKey, number: this.writer.nextBlobNumber(), id, kind };
      this.copiedBytes += bytes.length;
      await this.writer.add(id, kind, await this.repository.coder.seal(task, bytes));
    });
  }

  /** Takes condemned packs whose time has come out of the indexes. */
  private async bury(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const decidedAt = this.repository.state.sequence;
      const { condemned } = this.repository.state;
      if (condemned.size === 0) return;
      const uses = packUses(this.repository, await Marks.of(this.repository));
      const { die } = planPrune(uses, condemned, this.repository.now, this.limits);
      if (die.length === 0) return;
      if (await this.recordDead(new Set(die), decidedAt)) return;
      await this.repository.reload();
    }
  }

  private async recordDead(dead: ReadonlySet<string>, decidedAt: number): Promise<boolean> {
    const replaced = [...this.repository.packsOfIndexes()]
      .filter(([, packs]) => [...packs].some((pack) => dead.has(pack)))
      .map(([name]) => name);
    const kept = [];
    for (const name of replaced) {
      const reference = this.repository.state.indexes.get(name);
      if (reference === undefined) return false;
      for (const entry of await this.repository.readIndex(reference))
        if (!dead.has(entry.pack)) kept.push(entry);
    }
    const written = await this.writer.writeIndexesOf(kept);
    const { run } = this.writer;
    const body = await this.repository.journal.append((state) => {
      if (state.sequence !== decidedAt || isAbandoned(state, run)) return undefined;
      return {
        kind: 'packs-dead',
        run,
        packs: [...dead],
        indexes: written.map(({ reference }) => reference),
        replacedIndexes: replaced,
      };
    });
    await this.repository.sync();
    return body !== undefined;
  }

  /** Gives up runs that left something behind, and deletes that. */
  private async abandon(): Promise<void> {
    const found: ObjectInfo[] = [];
    for await (const info of this.repository.store.list(DATA_PREFIX)) found.push(info);
    const { orphanAgeMs } = this.limits;
    const own = this.writer.run;
    await this.repository.journal.append(async (state) => {
      await this.repository.sync();
      const given = { now: this.repository.now, orphanAgeMs };
      const runs = runsToAbandon(state, found, this.repository.indexedPacks(), given).filter(
        (run) => run !== own,
      );
      return runs.length === 0 ? undefined : { kind: 'runs-abandoned', runs };
    });
    await this.repository.sync();
    const names = found.map(({ name }) => name);
    const sizes = new Map(found.map(({ name, sizeBytes }) => [name, sizeBytes]));
    const left = objectsLeftBehind(this.repository.state, names, this.repository.indexedPacks());
    await this.deleteAll(left, sizes);
  }

  /** Deletes what the journal calls dead, and checkpoints that newer ones replace. */
  private async sweep(): Promise<void> {
    const gone = await this.deleteAll([...this.repository.state.dead]);
    if (gone.length > 0) {
      const objects = gone.slice(0, GONE_MAX);
      await this.repository.journal.append((state) => {
        const still = objects.filter((name) => state.dead.has(name));
        return still.length === 0 ? undefined : { kind: 'objects-gone', objects: still };
      });
      await this.repository.sync();
    }
    const kept = await this.repository.journal.writeCheckpoint();
    if (kept === undefined) return;
    const old: string[] = [];
    for await (const { name } of this.repository.store.list(CHECKPOINT_PREFIX))
      if (name < kept) old.push(name);
    // The newest of the old ones stays, for readers that have just read the hint.
    await this.deleteAll(old.sort().slice(0, -1));
  }

  private async deleteAll(names: readonly string[], sizes?: ReadonlyMap<string, number>): Promise<string[]> {
    const gone: string[] = [];
    await inLanes(names, DELETES_AT_ONCE, async (name) => {
      const { store } = this.repository;
      const sizeBytes = sizes?.get(name) ?? (await store.head(name))?.sizeBytes ?? 0;
      if ((await store.delete(name)) === 'locked') {
        this.lockedObjects += 1;
        return;
      }
      // A deletion that was said done may be lost.
      if ((await store.head(name)) !== undefined) return;
      gone.push(name);
      this.deletedObjects += 1;
      this.deletedBytes += sizeBytes;
    });
    return gone;
  }
}
