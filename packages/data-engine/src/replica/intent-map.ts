/**
 * Where the copies of a volume may differ after a crash: one bit per region of the device, durable before the first
 * write into that region starts.
 *
 * The engine has regions forgotten (`forget`) when it knows that all copies hold the same there: after some time without a
 * change of them, and at a clean stop. What is set after a crash is made equal again before reads go round the copies.
 */
import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import type { IntentMarker } from './commands.js';
import type { CopyFile, CopyFiles } from './disk-store.js';
import { corrupt } from './replica-faults.js';
import { contentOf, SECTOR_BYTES, SECTOR_CONTENT_BYTES, SectorSeals } from './sealed-sectors.js';

/** Coarse: a stream of writes waits for the disk once per region, and a crash costs a comparison of whole regions. */
export const REGION_BYTES = 16 * MIB;

export const INTENT_FILE = 'intent.map';

const SEALS = new SectorSeals(INTENT_FILE);
const SEQUENCE = 1;

export type RegionRun = { first: number; count: number };

export class IntentMap {
  private durable: Uint8Array;
  private gathering: { regions: Set<number>; done: Promise<void> } | undefined;
  private storing: Promise<void> = Promise.resolve();
  private readonly life = crypto.randomUUID();
  private changes = 0;
  /** Of each marked region that this process has changed: the number of its last change. */
  private readonly lastChange = new Map<number, number>();
  /** Markers from before this one say nothing any more. */
  private oldestMarker = 0;

  private constructor(
    private readonly file: CopyFile,
    regionCount: number,
  ) {
    this.durable = new Uint8Array(Math.ceil(regionCount / 8));
  }

  static async create(files: CopyFiles, sizeBytes: number): Promise<IntentMap> {
    const regionCount = Math.ceil(sizeBytes / REGION_BYTES);
    const file = await files.createFile(INTENT_FILE, storedBytes(regionCount), { kind: 'map' });
    const map = new IntentMap(file, regionCount);
    // Written out, not left sparse: a mark that has to allocate a block makes the file system commit its journal, and
    // all the data that waits there, while a user's write waits for the mark.
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
    // Longer than the volume: growing it was interrupted.
    if (size > storedBytes(regionCount)) await file.resize(storedBytes(regionCount));
    try {
      if (size < storedBytes(regionCount)) throw corrupt('its write-intent map has the wrong size');
      // A mark that is not durable is not made again: the process that made it may have died before it synced it.
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
    // It is written as a whole when it is made: not even zeros are lawful.
    if (SEALS.statesOf(stored, 0).some((state) => typeof state !== 'number')) {
      throw corrupt('its write-intent map is not what was written there');
    }
    contentOf(stored, this.durable);
  }

  get isEmpty(): boolean {
    return this.durable.every((byte) => byte === 0);
  }

  /** Resolves when the regions are durably marked; `undefined` when they already are, which is the usual case. */
  mark(offset: number, lengthBytes: number): Promise<void> | undefined {
    const first = Math.floor(offset / REGION_BYTES);
    const last = Math.floor((offset + lengthBytes - 1) / REGION_BYTES);
    let missing = false;
    for (let region = first; region <= last && !missing; region += 1) missing = !this.has(region);
    if (!missing) return undefined;

    this.gathering ??= this.startGathering();
    for (let region = first; region <= last; region += 1) this.gathering.regions.add(region);
    return this.gathering.done;
  }

  /** A change of these regions, which were marked, has ended. */
  changed(offset: number, lengthBytes: number): void {
    this.changes += 1;
    const last = Math.floor((offset + lengthBytes - 1) / REGION_BYTES);
    for (let region = Math.floor(offset / REGION_BYTES); region <= last; region += 1) {
      this.lastChange.set(region, this.changes);
    }
  }

  /** The device as a whole reads otherwise from now on: what was known of its regions before counts no more. */
  changedAll(): void {
    this.changes += 1;
    this.oldestMarker = this.changes;
  }

  marker(): IntentMarker {
    return { life: this.life, changes: this.changes };
  }

  /** True when changes of these regions, up to the marker, have ended after the change of the given number. */
  changedAfter(change: number, regions: readonly RegionRun[], marker: IntentMarker): boolean {
    for (const region of this.unchangedSince(regions, marker)) {
      if ((this.lastChange.get(region) ?? 0) > change) return true;
    }
    return false;
  }

  /**
   * Forgets those of the regions that were not changed since the marker; a marker of another process says nothing. No
   * change may be under way when this is called; the promise, which resolves when it is on the disk, holds none up.
   */
  forget(regions: readonly RegionRun[], marker: IntentMarker): Promise<void> {
    const forgotten = [...this.unchangedSince(regions, marker)].filter((region) => this.has(region));
    if (forgotten.length === 0) return Promise.resolve();
    // Out of memory first: a change that begins meanwhile marks its region again, behind this.
    for (const region of forgotten) {
      clearBit(this.durable, region);
      this.lastChange.delete(region);
    }
    const stored = this.storing.then(() => this.store());
    this.storing = stored.catch(() => {
      for (const region of forgotten) setBit(this.durable, region);
    });
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

  /** Nothing may be written while this runs. */
  async grow(sizeBytes: number): Promise<void> {
    await this.storing;
    const grown = new Uint8Array(Math.ceil(Math.ceil(sizeBytes / REGION_BYTES) / 8));
    if (grown.length <= this.durable.length) return;
    grown.set(this.durable);
    this.durable = grown;
    await this.store();
  }

  /** Nothing may be written while this runs. */
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

  /** Marks that come while one store is under way share the next one. */
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
    // A failed store fails the writes that waited for it; later ones try again.
    this.storing = done.catch(() => undefined);
    return { regions, done };
  }

  private async store(bits: Uint8Array = this.durable): Promise<void> {
    await this.file.write([SEALS.seal(bits, 0, SEQUENCE)], 0);
    await this.file.syncData();
  }

  private has(region: number): boolean {
    return ((this.durable[region >>> 3] ?? 0) & (1 << (region & 7))) !== 0;
  }
}

/** How long the file is, in sealed sectors. */
function storedBytes(regionCount: number): number {
  return Math.ceil(regionCount / 8 / SECTOR_CONTENT_BYTES) * SECTOR_BYTES;
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >>> 3] = (bits[index >>> 3] ?? 0) | (1 << (index & 7));
}

function clearBit(bits: Uint8Array, index: number): void {
  bits[index >>> 3] = (bits[index >>> 3] ?? 0) & ~(1 << (index & 7));
}
