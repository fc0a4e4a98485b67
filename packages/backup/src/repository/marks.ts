/** Which blobs backups refer to: the maps of all backups are read, each segment once. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { damaged } from '../codec/damage.js';
import { HOLE_SEGMENT, isHole } from '../codec/segments.js';
import type { IndexEntry } from '../model/format.js';
import type { PackUse } from '../rules/plan-prune.js';
import { readManifest } from './backup-reader.js';
import { idsIn, readBlobs } from './blob-reader.js';
import type { BlobTable } from './blob-table.js';
import type { Repository } from './repository.js';

/** Attempts while a reader of this process brings the table of blobs up to date. */
const ATTEMPTS = 3;

/** Entries of the table of blobs that some backup refers to. */
export class Marks {
  private readonly live: Uint8Array;

  private constructor(private readonly blobs: BlobTable) {
    this.live = new Uint8Array(blobs.size);
  }

  /** @throws StorageFault `backup.damaged` where a backup refers to what is missing: nothing may be deleted on such grounds */
  static async of(repository: Repository): Promise<Marks> {
    for (let attempt = 1; ; attempt += 1) {
      const marks = new Marks(repository.blobs);
      await marks.markAll(repository);
      if (marks.blobs === repository.blobs) return marks;
      if (attempt >= ATTEMPTS)
        throw new StorageFault('backup.busy', { publicMessage: 'the index changed each time it was read' });
    }
  }

  private async markAll(repository: Repository): Promise<void> {
    const seen = new Set<string>();
    for (const backupId of repository.state.backups.keys()) {
      const { segments } = await readManifest(repository, backupId);
      const unseen = [...new Set(segments)].filter((id) => id !== HOLE_SEGMENT && !seen.has(id));
      for (const id of unseen) {
        seen.add(id);
        this.mark(Buffer.from(id, 'hex'));
      }
      const wanted = unseen.map((id) => ({ id: Buffer.from(id, 'hex'), item: id }));
      await readBlobs(repository, wanted, async (_, bytes) => {
        for (const id of idsIn(bytes)) if (!isHole(id)) this.mark(id);
      });
    }
  }

  private mark(id: Uint8Array): void {
    const number = this.blobs.numberOf(id);
    if (number === undefined)
      throw damaged(
        `a backup refers to blob ${Buffer.from(id).toString('hex').slice(0, 16)}, which is missing`,
      );
    this.live[number] = 1;
  }

  *entries(): Generator<IndexEntry & { isLive: boolean }> {
    for (const entry of this.blobs.entries()) yield { ...entry, isLive: this.live[entry.number] === 1 };
  }
}

/** How much of each pack is in use. A blob that lies in two packs counts in the one that it is read from. */
export function packUses(repository: Repository, marks: Marks): PackUse[] {
  const uses = new Map<string, { pack: string; storedBytes: number; liveBytes: number }>();
  for (const pack of repository.indexedPacks()) uses.set(pack, { pack, storedBytes: 0, liveBytes: 0 });
  for (const { pack, storedBytes, isLive } of marks.entries()) {
    const use = uses.get(pack);
    if (use === undefined) continue;
    use.storedBytes += storedBytes;
    if (isLive) use.liveBytes += storedBytes;
  }
  return [...uses.values()];
}
