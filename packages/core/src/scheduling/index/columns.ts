/**
 * The figures of every disk in one flat array, so that judging a disk touches one or two cache lines instead of a
 * dozen objects. A disk's row is found by its slot; slots of removed disks are used again.
 */
import type { StorageDisk } from '../../model/node.js';
import type { ClusterSettings } from '../../settings/definitions.js';
import { HOLDFAST_PROFILE } from '../profile.js';
import { minimalAvailableBytes, provisionableBytes, totalBytes, usableBytes } from '../space.js';

/** What one decision reads stands first; what only updates read stands behind it. All are whole bytes. */
const USABLE = 0;
/** How much more may be booked: the second space formula holds up to this size. */
const HEADROOM = 1;
/** Free space above the minimum: the first space formula holds for less than this. */
const FREE = 2;
const TOTAL = 3;
const AVAILABLE = 4;
const RESERVED = 5;
const MAXIMUM = 6;
const SCHEDULED = 7;
const WRITTEN = 8;
const ROW_LENGTH = 9;

/** Some requests may use the disk: it is ready, open, and passes both space formulas for an empty replica. */
const POSSIBLE = 1;
const OPEN = 2;
const EVICTING = 4;

/** An element of a column. Slots and positions come from the index itself, so they are always in range. */
export function at(values: Float64Array | Int32Array | Uint8Array, index: number): number {
  return values[index] as number;
}

export type DiskState = { readonly open: boolean; readonly evicting: boolean };
export type DiskFigures = Pick<
  StorageDisk,
  | 'storageAvailableBytes'
  | 'storageReservedBytes'
  | 'storageMaximumBytes'
  | 'storageScheduledBytes'
  | 'writtenBytes'
>;

export class DiskColumns {
  private rows: Float64Array;
  private classes: Int32Array;
  private flags: Uint8Array;
  private readonly freeSlots: number[] = [];
  private used = 0;

  constructor(
    private settings: ClusterSettings,
    capacity: number,
  ) {
    this.rows = new Float64Array(capacity * ROW_LENGTH);
    this.classes = new Int32Array(capacity);
    this.flags = new Uint8Array(capacity);
  }

  get bytes(): number {
    return this.rows.byteLength + this.classes.byteLength + this.flags.byteLength;
  }

  allocate(): number {
    const slot = this.freeSlots.pop() ?? this.used++;
    if (slot >= this.classes.length) this.grow();
    return slot;
  }

  release(slot: number): void {
    this.flags[slot] = 0;
    this.freeSlots.push(slot);
  }

  write(slot: number, figures: DiskFigures, state: DiskState, classId: number): void {
    const row = slot * ROW_LENGTH;
    this.rows[row + AVAILABLE] = figures.storageAvailableBytes;
    this.rows[row + RESERVED] = figures.storageReservedBytes;
    this.rows[row + MAXIMUM] = figures.storageMaximumBytes;
    this.rows[row + SCHEDULED] = figures.storageScheduledBytes;
    this.rows[row + WRITTEN] = figures.writtenBytes;
    this.classes[slot] = classId;
    this.flags[slot] = (state.open ? OPEN : 0) | (state.evicting ? EVICTING : 0);
    this.derive(slot);
  }

  /** Adds to what is booked on a disk and to what of it is written; negative figures take off. */
  book(slot: number, sizeBytes: number, writtenBytes: number): void {
    const row = slot * ROW_LENGTH;
    this.rows[row + SCHEDULED] = at(this.rows, row + SCHEDULED) + sizeBytes;
    this.rows[row + WRITTEN] = at(this.rows, row + WRITTEN) + writtenBytes;
    this.derive(slot);
  }

  /** All limits follow the settings, so every disk is worked out again. */
  useSettings(settings: ClusterSettings): void {
    this.settings = settings;
    for (let slot = 0; slot < this.used; slot += 1) this.derive(slot);
  }

  usable(slot: number): number {
    return at(this.rows, slot * ROW_LENGTH + USABLE);
  }
  headroom(slot: number): number {
    return at(this.rows, slot * ROW_LENGTH + HEADROOM);
  }
  free(slot: number): number {
    return at(this.rows, slot * ROW_LENGTH + FREE);
  }
  total(slot: number): number {
    return at(this.rows, slot * ROW_LENGTH + TOTAL);
  }
  classOf(slot: number): number {
    return at(this.classes, slot);
  }
  isPossible(slot: number): boolean {
    return (at(this.flags, slot) & POSSIBLE) !== 0;
  }
  isOpen(slot: number): boolean {
    return (at(this.flags, slot) & OPEN) !== 0;
  }
  isEvicting(slot: number): boolean {
    return (at(this.flags, slot) & EVICTING) !== 0;
  }

  figures(slot: number): DiskFigures {
    const row = slot * ROW_LENGTH;
    return {
      storageAvailableBytes: at(this.rows, row + AVAILABLE),
      storageReservedBytes: at(this.rows, row + RESERVED),
      storageMaximumBytes: at(this.rows, row + MAXIMUM),
      storageScheduledBytes: at(this.rows, row + SCHEDULED),
      writtenBytes: at(this.rows, row + WRITTEN),
    };
  }

  private derive(slot: number): void {
    const figures = this.figures(slot);
    const row = slot * ROW_LENGTH;
    this.rows[row + USABLE] = usableBytes(figures, HOLDFAST_PROFILE);
    this.rows[row + HEADROOM] = provisionableBytes(figures, this.settings) - figures.storageScheduledBytes;
    this.rows[row + FREE] = freeAboveMinimum(figures, this.settings);
    this.rows[row + TOTAL] = totalBytes(figures);
    this.judge(slot);
  }

  /** A disk that no request could use is left out of every sum, so that the sums bound what they are asked for. */
  private judge(slot: number): void {
    const flags = at(this.flags, slot);
    const isPossible = (flags & OPEN) !== 0 && this.headroom(slot) >= 0 && this.free(slot) > 0;
    this.flags[slot] = isPossible ? flags | POSSIBLE : flags & ~POSSIBLE;
  }

  private grow(): void {
    const capacity = Math.max(16, this.classes.length * 2);
    const rows = new Float64Array(capacity * ROW_LENGTH);
    const classes = new Int32Array(capacity);
    const flags = new Uint8Array(capacity);
    rows.set(this.rows);
    classes.set(this.classes);
    flags.set(this.flags);
    this.rows = rows;
    this.classes = classes;
    this.flags = flags;
  }
}

/** Nothing passes the first formula on a disk without size or free bytes, whatever the minimum. */
function freeAboveMinimum(figures: DiskFigures, settings: ClusterSettings): number {
  if (figures.storageMaximumBytes <= 0 || figures.storageAvailableBytes <= 0) return Number.NEGATIVE_INFINITY;
  return figures.storageAvailableBytes - minimalAvailableBytes(figures, settings);
}
