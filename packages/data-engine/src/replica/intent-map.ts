/**
 * Write-intent map of a copy: one bit per region of the device, durable before the first write into that region
 * starts. It says where the copies of a volume may differ after a crash.
 *
 * The engine clears regions (`clearUnchanged`) when it knows that all copies are equal there: after some time without a
 * change, and at a clean stop. Regions that are marked after a crash are resynced before reads alternate between
 * copies.
 */
import crypto from 'node:crypto';
import { REGION_BYTES, SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { isRefusedWrite } from '../base/system-error.js';
import type { CopyFile, CopyFiles } from '../disk/disk-store.js';
import { contentOf, SECTOR_CONTENT_BYTES, SectorSeals } from '../disk/sealed-sectors.js';
import type { IntentMarker } from '../protocol/commands.js';
import { corrupt } from '../protocol/replica-faults.js';

export const INTENT_FILE = 'intent.map';

const SEALS = new SectorSeals(INTENT_FILE);
const SEQUENCE = 1;
/**
 * Maximum regions that one store marks ahead of a stream of writes (docs/design/write-path.md): 256 MiB. With half of the earlier
 * ones, 384 MiB are compared in vain after a crash.
 */
const AHEAD_MAX = 16;

export type RegionRun = { first: number; count: number };

export class IntentMap {
  private durable: Uint8Array;
  private gathering: { regions: Set<number>; done: Promise<void> } | undefined;
  private storing: Promise<void> = Promise.resolve();
  private readonly life = crypto.randomUUID();
  private changes = 0;
  /** Number of the last change of each marked region that this process has changed. */
  private readonly lastChange = new Map<number, number>();
  /** Markers older than this one are void. */
  private oldestMarker = 0;
  /** Regions that were last marked ahead of a stream: when it reaches their middle, the next ones are marked. */
  private ahead: { readonly middle: number; readonly end: number } | undefined;

  /** Called when a store has failed: the marks on the disk are then unknown until the copy is reopened. */
  onLost: (failure: unknown) => void = () => undefined;

  private constructor(
    private readonly file: CopyFile,
    private regionCount: number,
  ) {
    this.durable = new Uint8Array(Math.ceil(regionCount / 8));
  }

  static async create(files: CopyFiles, sizeBytes: number): Promise<IntentMap> {
    const regionCount = Math.ceil(sizeBytes / REGION_BYTES);
    const file = await files.createFile(INTENT_FILE, storedBytes(regionCount), { kind: 'map' });
    const map = new IntentMap(file, regionCount);
    // Preallocated, not sparse: a mark that has to allocate a block makes the file system commit its journal, with
    // all the data queued there, while a user's write waits for the mark.
    await map.store();
    return map;
  }

  static async open(files: CopyFiles, sizeBytes: number): Promise<IntentMap> {
    const regionCount = Math.ceil(sizeBytes / REGION_BYTES);
    let file: CopyFile;
    try {
      file = await files.openFile(INTENT_FILE, { kind: 'map' });
    } catch (error) {
      throw corrupt('its write-intent map is missing', error);
    }
    const map = new IntentMap(file, regionCount);
    const size = await file.sizeBytes();
    // Longer than the volume's size needs: an expansion was interrupted.
    if (size > storedBytes(regionCount)) await file.resize(storedBytes(regionCount));
    try {
      if (size < storedBytes(regionCount)) throw corrupt('its write-intent map has the wrong size');
      // Marks read from the file may not be durable, if the last process died before its sync; they are not written
      // again, so sync now.
      await file.syncData();
      await map.load();
    } catch (error) {
      await file.close();
      throw error;
    }
    return map;
  }

  private async load(): Promise<void> {
    const stored = Buffer.alloc(storedBytes(this.durable.length * 8));
    await this.file.readStored(stored, 0);
    // The file is written whole at creation, so even a sector of zeros is corruption.
    if (SEALS.statesOf(stored, 0).some((state) => typeof state !== 'number')) {
      throw corrupt('its write-intent map is not what was written there');
    }
    contentOf(stored, this.durable);
  }

  get isEmpty(): boolean {
    return this.durable.every((byte) => byte === 0);
  }

  /** Resolves when the regions are durably marked; `undefined` if they already are, which is the usual case. */
  mark(offset: number, lengthBytes: number): Promise<void> | undefined {
    if (this.isMarked(offset, lengthBytes)) return undefined;
    const first = Math.floor(offset / REGION_BYTES);
    const last = Math.floor((offset + lengthBytes - 1) / REGION_BYTES);
    return this.gather(first, last, this.markedBefore(first));
  }

  /** @param ahead regions behind the last that are marked by the same store, as far as the device goes */
  private gather(first: number, last: number, ahead: number): Promise<void> {
    this.gathering ??= this.startGathering();
    const end = Math.min(last + ahead, this.regionCount - 1);
    for (let region = first; region <= end; region += 1) this.gathering.regions.add(region);
    if (end > last) this.ahead = { middle: last + Math.ceil((end - last) / 2), end };
    return this.gathering.done;
  }

  /** Marks what comes next, without a write that waits for it. Should it fail, the write that comes there marks its region. */
  private goOnAhead(end: number): void {
    this.ahead = undefined;
    if (end + 1 < this.regionCount) void this.gather(end + 1, end, this.markedBefore(end + 1));
  }

  /**
   * How many regions in a row are marked before this one, up to a maximum. As many are marked ahead: a stream of writes then waits
   * for few syncs, and a write in a place of its own marks no other region.
   */
  private markedBefore(region: number): number {
    let count = 0;
    while (count < AHEAD_MAX && count < region && this.has(region - 1 - count)) count += 1;
    return count;
  }

  /** True if the regions are durably marked. */
  isMarked(offset: number, lengthBytes: number): boolean {
    const last = Math.floor((offset + lengthBytes - 1) / REGION_BYTES);
    for (let region = Math.floor(offset / REGION_BYTES); region <= last; region += 1) {
      if (!this.has(region)) return false;
    }
    return true;
  }

  /** Records that a change of these marked regions has ended. */
  changed(offset: number, lengthBytes: number): void {
    this.changes += 1;
    const last = Math.floor((offset + lengthBytes - 1) / REGION_BYTES);
    for (let region = Math.floor(offset / REGION_BYTES); region <= last; region += 1) {
      this.lastChange.set(region, this.changes);
    }
    const { ahead } = this;
    if (ahead !== undefined && last >= ahead.middle && last <= ahead.end) this.goOnAhead(ahead.end);
  }

  /** Records that the whole device reads differently from now on: all earlier knowledge of its regions is void. */
  changedAll(): void {
    this.changes += 1;
    this.oldestMarker = this.changes;
  }

  marker(): IntentMarker {
    return { life: this.life, changes: this.changes };
  }

  /** True if changes of these regions, up to the marker, have ended after the given change. */
  changedAfter(change: number, regions: readonly RegionRun[], marker: IntentMarker): boolean {
    for (const region of this.unchangedSince(regions, marker)) {
      if ((this.lastChange.get(region) ?? 0) > change) return true;
    }
    return false;
  }

  /**
   * Clears the marks of those regions that were not changed since the marker; a marker of another process is ignored.
   * No change may be in flight at the call. The returned promise resolves when the map is on the disk, and blocks no
   * change.
   */
  clearUnchanged(regions: readonly RegionRun[], marker: IntentMarker): Promise<void> {
    const cleared = [...this.unchangedSince(regions, marker)].filter((region) => this.has(region));
    if (cleared.length === 0) return Promise.resolve();
    // Memory first, and for good: a change that begins during the store, or after one that failed, marks its region again.
    for (const region of cleared) {
      clearBit(this.durable, region);
      this.lastChange.delete(region);
    }
    const stored = this.storing.then(() => this.store());
    this.storing = stored.catch(() => undefined);
    return stored;
  }

  private *unchangedSince(regions: readonly RegionRun[], marker: IntentMarker): Generator<number> {
    if (marker.life !== this.life || marker.changes < this.oldestMarker) return;
    const total = this.durable.length * 8;
    for (const { first, count } of regions) {
      for (let region = first; region < Math.min(first + count, total); region += 1) {
        if ((this.lastChange.get(region) ?? 0) <= marker.changes) yield region;
      }
    }
  }

  /** Makes the map as large as the device, or larger. No write may be in flight. */
  async grow(sizeBytes: number): Promise<void> {
    await this.storing;
    const regionCount = Math.ceil(sizeBytes / REGION_BYTES);
    const grown = new Uint8Array(Math.ceil(regionCount / 8));
    if (grown.length > this.durable.length) {
      grown.set(this.durable);
      // The disk first: if it has no room, the next try has to store it again, and a larger size must not be committed before.
      await this.store(grown);
      this.durable = grown;
    }
    this.regionCount = regionCount;
  }

  /** No write may be in flight. */
  async clear(): Promise<void> {
    if (this.isEmpty) return;
    await this.storing;
    this.durable.fill(0);
    this.lastChange.clear();
    await this.store();
  }

  runs(): RegionRun[] {
    const runs: RegionRun[] = [];
    for (let region = 0; region < this.durable.length * 8; region += 1) {
      if (!this.has(region)) continue;
      const last = runs.at(-1);
      if (last !== undefined && last.first + last.count === region) last.count += 1;
      else runs.push({ first: region, count: 1 });
    }
    return runs;
  }

  async close(): Promise<void> {
    await this.storing;
    await this.file.close();
  }

  /** Group commit: marks that arrive while a store runs share the next one. */
  private startGathering(): { regions: Set<number>; done: Promise<void> } {
    const regions = new Set<number>();
    const done = this.storing.then(async () => {
      this.gathering = undefined;
      const bits = [...regions].filter((region) => !this.has(region));
      if (bits.length === 0) return;
      const next = Uint8Array.from(this.durable);
      for (const region of bits) setBit(next, region);
      await this.store(next);
      for (const region of bits) setBit(this.durable, region);
    });
    // A failed store fails the writes that waited for it, if any did; later ones retry.
    this.storing = done.catch(() => undefined);
    return { regions, done };
  }

  /**
   * A store that fails may have reached the disk in whole or in part, so the copy ends with it. Only a full disk refuses before
   * that: what memory has for marked is durable in either case.
   */
  private async store(bits: Uint8Array = this.durable): Promise<void> {
    try {
      await this.file.write([SEALS.seal(bits, 0, SEQUENCE)], 0);
      await this.file.syncData();
    } catch (error) {
      if (!isRefusedWrite(error)) this.onLost(error);
      throw error;
    }
  }

  private has(region: number): boolean {
    return ((this.durable[region >>> 3] ?? 0) & (1 << (region & 7))) !== 0;
  }
}

/** Length of the file in bytes, in sealed sectors. */
function storedBytes(regionCount: number): number {
  return Math.ceil(regionCount / 8 / SECTOR_CONTENT_BYTES) * SECTOR_BYTES;
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >>> 3] = (bits[index >>> 3] ?? 0) | (1 << (index & 7));
}

function clearBit(bits: Uint8Array, index: number): void {
  bits[index >>> 3] = (bits[index >>> 3] ?? 0) & ~(1 << (index & 7));
}
