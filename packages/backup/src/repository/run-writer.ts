/**
 * Writes the objects of one run: packs, indexes, a manifest, all under one prefix that no other run has. Until a record of the journal names
 * them they are nothing but leftovers; a record names them only after the target has confirmed that they exist.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { encodeIndex } from '../codec/index-file.js';
import type { RepositoryKeys } from '../codec/keys.js';
import { PACK_HEADER_BYTES, packEnd, writePackHeader } from '../codec/pack-file.js';
import { digestOf, sealObject } from '../codec/sealed-object.js';
import {
  type BlobKind,
  type BlobLocation,
  INDEX_ENTRIES_MAX,
  type IndexEntry,
  type Manifest,
  type ObjectReference,
} from '../model/format.js';
import { indexOf, manifestOf, packObject, packOf, runPrefix } from '../model/names.js';
import type { ObjectStore } from '../store/object-store.js';
import type { SealedBlob } from '../threads/block-coder.js';
import { BlobTable } from './blob-table.js';

/** Packs in memory: one is filled while one is uploaded. */
const PACKS_AT_ONCE = 2;
/** Room that is kept for a pack's directory: entries, their seal, and the end. */
const DIRECTORY_ENTRY_BYTES = 46;
const DIRECTORY_BYTES = 128;
/** An object that was said stored and is not there is stored again so often. */
const PUT_ATTEMPTS = 4;

export type WrittenIndex = { readonly reference: ObjectReference; readonly entries: readonly IndexEntry[] };

type OpenPack = {
  readonly pack: string;
  readonly bytes: Buffer;
  end: number;
  readonly entries: IndexEntry[];
};

export type RunOptions = { readonly run: string; readonly packBytesMax: number; readonly lockedUntil?: Date };

export class RunWriter {
  readonly run: string;
  readonly runKey: Buffer;
  /** Blobs of this run, uploaded or not. */
  readonly blobs = new BlobTable();
  /** Bytes of all packs of this run. */
  addedBytes = 0;
  private blobCount = 0;
  private packCount = 0;
  private indexCount = 0;
  private open: OpenPack | undefined;
  private readonly free: Buffer[] = [];
  private buffers = 0;
  private readonly uploading = new Set<Promise<void>>();
  private failure: unknown;
  /** Packs that are uploaded, and that no index has yet. */
  private readonly untold = new Map<
    string,
    { readonly entries: readonly IndexEntry[]; readonly sizeBytes: number }
  >();

  constructor(
    private readonly store: ObjectStore,
    private readonly keys: RepositoryKeys,
    private readonly options: RunOptions,
  ) {
    this.run = options.run;
    this.runKey = keys.runKey(this.run);
  }

  /** A number that no other blob of this run has: its nonce. */
  nextBlobNumber(): number {
    this.blobCount += 1;
    return this.blobCount;
  }

  get untoldPacks(): number {
    return this.untold.size;
  }

  /** Puts a sealed blob into a pack. Waits where enough packs are being uploaded. */
  async add(id: Uint8Array, kind: BlobKind, { codec, rawBytes, sealed }: SealedBlob): Promise<BlobLocation> {
    if (this.failure !== undefined) throw this.failure;
    while (!this.fits(sealed.length)) {
      if (this.open === undefined) await this.begin();
      else await this.closePack();
    }
    const { open } = this;
    if (open === undefined) throw new Error('no pack is open');
    const entry: IndexEntry = {
      id: Buffer.from(id),
      pack: open.pack,
      offset: open.end,
      storedBytes: sealed.length,
      rawBytes,
      codec,
      kind,
    };
    open.end += sealed.copy(open.bytes, open.end);
    open.entries.push(entry);
    this.blobs.set(entry);
    return entry;
  }

  private fits(sealedBytes: number): boolean {
    if (this.open === undefined) return false;
    const directory = DIRECTORY_BYTES + (this.open.entries.length + 1) * DIRECTORY_ENTRY_BYTES;
    // A pack takes one blob at least, however small packs are to be.
    return (
      this.open.entries.length === 0 || this.open.end + sealedBytes + directory <= this.options.packBytesMax
    );
  }

  private async begin(): Promise<void> {
    while (this.mustWait()) await Promise.race(this.uploading);
    if (this.failure !== undefined) throw this.failure;
    // Another caller may have begun one meanwhile.
    if (this.open !== undefined) return;
    let bytes = this.free.pop();
    if (bytes === undefined) {
      this.buffers += 1;
      bytes = Buffer.allocUnsafeSlow(this.options.packBytesMax + DIRECTORY_BYTES);
    }
    this.packCount += 1;
    this.open = { pack: packOf(this.run, this.packCount), bytes, end: writePackHeader(bytes), entries: [] };
  }

  private mustWait(): boolean {
    const isFree = this.free.length > 0 || this.buffers < PACKS_AT_ONCE;
    return this.open === undefined && this.failure === undefined && !isFree;
  }

  private async closePack(): Promise<void> {
    const { open } = this;
    this.open = undefined;
    if (open === undefined || open.end === PACK_HEADER_BYTES) return;
    const end = packEnd(this.keys, open.pack, open.entries);
    const isLarger = open.end + end.length > open.bytes.length;
    const bytes = isLarger
      ? Buffer.concat([open.bytes.subarray(0, open.end), end])
      : open.bytes.subarray(0, open.end + end.copy(open.bytes, open.end));
    this.addedBytes += bytes.length;
    const upload = this.put(packObject(open.pack), bytes)
      .then(() => {
        this.untold.set(open.pack, { entries: open.entries, sizeBytes: bytes.length });
        this.free.push(open.bytes);
      })
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => this.uploading.delete(upload));
    this.uploading.add(upload);
  }

  /** Closes the open pack, and waits until all are uploaded. */
  async flush(): Promise<void> {
    await this.closePack();
    await Promise.all(this.uploading);
    if (this.failure !== undefined) throw this.failure;
  }

  /**
   * Asks the target for the packs that no record names yet. Those that it does not have are forgotten, with their blobs: they were said stored,
   * and were lost.
   *
   * @returns how many were lost
   */
  async settle(): Promise<number> {
    await this.flush();
    const sizes = await this.sizesAtTarget();
    const lost = new Set<string>();
    for (const [pack, { sizeBytes }] of this.untold) {
      const name = packObject(pack);
      // A listing may lag: missing names are queried by HEAD.
      const found = sizes.get(name) ?? (await this.store.head(name))?.sizeBytes;
      if (found !== sizeBytes) lost.add(pack);
    }
    for (const pack of lost) this.untold.delete(pack);
    this.blobs.drop(lost);
    return lost.size;
  }

  private async sizesAtTarget(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    if (this.untold.size < 2) return sizes;
    for await (const { name, sizeBytes } of this.store.list(runPrefix(this.run))) sizes.set(name, sizeBytes);
    return sizes;
  }

  /** Writes the indexes of what no index has yet. Call `settle` first. */
  async writeIndexes(): Promise<WrittenIndex[]> {
    return this.writeIndexesOf([...this.untold.values()].flatMap((pack) => pack.entries));
  }

  async writeIndexesOf(entries: readonly IndexEntry[]): Promise<WrittenIndex[]> {
    const written: WrittenIndex[] = [];
    for (let at = 0; at < entries.length; at += INDEX_ENTRIES_MAX) {
      const part = entries.slice(at, at + INDEX_ENTRIES_MAX);
      this.indexCount += 1;
      const reference = await this.writeSealed(indexOf(this.run, this.indexCount), encodeIndex(part));
      written.push({ reference, entries: part });
    }
    return written;
  }

  /** Once a record of the journal names the indexes. */
  told(): void {
    this.untold.clear();
  }

  writeManifest(manifest: Manifest): Promise<ObjectReference> {
    return this.writeSealed(manifestOf(this.run), Buffer.from(JSON.stringify(manifest)));
  }

  private async writeSealed(name: string, bytes: Buffer): Promise<ObjectReference> {
    const sealed = sealObject(this.keys, name, bytes);
    for (let attempt = 0; attempt < PUT_ATTEMPTS; attempt += 1) {
      await this.put(name, sealed);
      if ((await this.store.head(name))?.sizeBytes === sealed.length)
        return { name, digest: digestOf(sealed), sizeBytes: sealed.length };
    }
    throw new StorageFault('backup.target_unreachable', {
      publicMessage: `${name} was stored, but is not there`,
    });
  }

  private async put(name: string, bytes: Buffer): Promise<void> {
    const { lockedUntil } = this.options;
    await this.store.put(name, bytes, lockedUntil === undefined ? {} : { lockedUntil });
  }
}
