/** One backup, opened for reading: any range of it, or all of it in the order that costs least. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { damaged } from '../codec/damage.js';
import { BlockMap, blocksIn, blocksOf, HOLE_SEGMENT, segmentsOf } from '../codec/segments.js';
import {
  FORMAT_NAME,
  ID_BYTES,
  MANIFEST_BYTES_MAX,
  type Manifest,
  VOLUME_BYTES_MAX,
} from '../model/format.js';
import type { StoredBackup } from '../rules/repository-state.js';
import { readBlobs, type Wanted } from './blob-reader.js';
import type { Repository } from './repository.js';

/** Takes the blocks of a restore, in any order. What is not written reads as zeros. */
export interface BlockSink {
  write(offset: number, bytes: Buffer): Promise<void>;
}

/** Blocks asked for at once: their places are planned together, and the reads of a whole pack are few. */
const BATCH_BLOCKS = 4096;

export class BackupReader {
  private constructor(
    private readonly repository: Repository,
    readonly manifest: Manifest,
    readonly map: BlockMap,
  ) {}

  /** @throws StorageFault `backup.not_found`, `backup.damaged` */
  static async open(repository: Repository, backupId: string): Promise<BackupReader> {
    return repository.steadily(async () => {
      const manifest = await readManifest(repository, backupId);
      return new BackupReader(repository, manifest, await readMap(repository, manifest));
    });
  }

  get sizeBytes(): number {
    return this.manifest.backup.sizeBytes;
  }

  get blockBytes(): number {
    return this.manifest.blockBytes;
  }

  /** Reads any range, zeros where nothing was written. Serves reads while the rest is restored. */
  async read(offset: number, lengthBytes: number): Promise<Buffer> {
    const end = offset + lengthBytes;
    if (offset < 0 || end > this.sizeBytes) throw new RangeError('outside of the volume');
    const bytes = Buffer.alloc(lengthBytes);
    const first = Math.floor(offset / this.blockBytes);
    const last = Math.ceil(end / this.blockBytes);
    const wanted: Wanted<number>[] = [];
    for (let block = first; block < last; block += 1)
      if (!this.map.isHole(block)) wanted.push({ id: this.map.idOf(block), item: block });
    await readBlobs(this.repository, wanted, async (block, content) => {
      const begin = block * this.blockBytes;
      const from = Math.max(offset, begin);
      content.copy(bytes, from - offset, from - begin, Math.min(end, begin + content.length) - begin);
    });
    return bytes;
  }

  /**
   * Writes all blocks that hold data. Each is checked against the map before it is written.
   *
   * @param skip blocks that are there already, such as those that were written since an earlier attempt
   */
  async restoreTo(
    sink: BlockSink,
    { skip, onProgress }: { skip?: (block: number) => boolean; onProgress?: (bytes: number) => void } = {},
  ): Promise<void> {
    for (let begin = 0; begin < this.map.blocks; begin += BATCH_BLOCKS) {
      // The same content at several places is read once.
      const places = new Map<string, { id: Buffer; blocks: number[] }>();
      for (let block = begin; block < Math.min(begin + BATCH_BLOCKS, this.map.blocks); block += 1) {
        if (this.map.isHole(block) || skip?.(block) === true) continue;
        const id = this.map.idOf(block);
        const name = id.toString('latin1');
        const known = places.get(name);
        if (known === undefined) places.set(name, { id, blocks: [block] });
        else known.blocks.push(block);
      }
      const wanted = [...places.values()].map(({ id, blocks }) => ({ id, item: blocks }));
      await readBlobs(this.repository, wanted, async (blocks, bytes) => {
        for (const block of blocks)
          await sink.write(block * this.blockBytes, this.withinVolume(block, bytes));
        onProgress?.(blocks.length * this.blockBytes);
      });
    }
  }

  /** The last block may be longer than the volume: the same content stands elsewhere as a whole block. */
  private withinVolume(block: number, bytes: Buffer): Buffer {
    return bytes.subarray(0, Math.min(bytes.length, this.sizeBytes - block * this.blockBytes));
  }
}

/** @throws StorageFault `backup.not_found` where it is none of this repository's */
export async function readManifest(repository: Repository, backupId: string): Promise<Manifest> {
  const stored = repository.state.backups.get(backupId);
  if (stored === undefined)
    throw new StorageFault('backup.not_found', { publicMessage: `there is no backup ${backupId}` });
  const bytes = await repository.readNamed(stored.manifest, MANIFEST_BYTES_MAX);
  // The cast: the bytes are those that the journal names, which a holder of the key wrote in this form.
  const manifest = JSON.parse(bytes.toString()) as Manifest;
  refuseForeign(repository, stored, manifest);
  return manifest;
}

function refuseForeign(repository: Repository, { id }: StoredBackup, manifest: Manifest): void {
  const { repositoryId, blockBytes } = repository.facts;
  const segments = segmentsOf(blocksOf(manifest.backup.sizeBytes, blockBytes));
  const isOurs =
    manifest.format === FORMAT_NAME &&
    manifest.repositoryId === repositoryId &&
    manifest.backup.id === id &&
    manifest.blockBytes === blockBytes &&
    manifest.backup.sizeBytes <= VOLUME_BYTES_MAX &&
    manifest.segments.length === segments;
  if (!isOurs) throw damaged(`the manifest of ${id} is another one's`);
}

export async function readMap(repository: Repository, manifest: Manifest): Promise<BlockMap> {
  const map = new BlockMap(blocksOf(manifest.backup.sizeBytes, manifest.blockBytes));
  const wanted = manifest.segments.flatMap((id, segment) =>
    id === HOLE_SEGMENT ? [] : [{ id: Buffer.from(id, 'hex'), item: segment }],
  );
  await readBlobs(repository, wanted, async (segment, bytes) => {
    if (bytes.length !== blocksIn(segment, map.blocks) * ID_BYTES)
      throw damaged(`segment ${segment} of a map has the wrong length`);
    map.setSegment(segment, bytes);
  });
  return map;
}
