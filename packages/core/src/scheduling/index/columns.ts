/**
 * Column store of every disk's figures in one flat array, so that judging a disk touches one or two cache lines instead
 * of a dozen objects. A disk's row is found by its slot; slots of removed disks are used again.
 */
import type { StorageDisk } from '../../model/node.js';
import type { ClusterSettings } from '../../model/setting.js';
import { minimalAvailableBytes, provisionableBytes } from '../../policy/disk-space.js';
import { totalBytes, usableOnceWritten } from '../tiers/usable-space.js';

/** What every decision reads: a short row, so that the disks of a node share a cache line or two. Whole bytes. */
export const USABLE = 0;
/** How much more may be booked: the second space formula holds up to this size. */
export const HEADROOM = 1;
/** Free space above the minimum: the first space formula holds for less than this. */
export const FREE = 2;
/** The class of a disk that some request may use, or `IMPOSSIBLE`. */
export const USABLE_CLASS = 3;
export const ROW_LENGTH = 4;

/** What only bookings and reports read, in a second array. */
const SCHEDULED = 0;
const WRITTEN = 1;
const AVAILABLE = 2;
const RESERVED = 3;
/** What may be booked in all. */
const LIMIT = 4;
const TOTAL = 5;
const MAXIMUM = 6;
const CLASS = 7;
const FACTS_LENGTH = 8;

/** In place of the class of a disk that no request may use, so that one comparison tells both. */
const IMPOSSIBLE = -1;

const OPEN = 1;
const EVICTING = 2;

/** An element of a column. Slots and positions come from the index itself, so they are always in range. */
export function at(values: Float64Array | Uint8Array, index: number): number {
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
  /** Row by row; a new array after the fleet has grown. */
  rows: Float64Array;
  private facts: Float64Array;
  private flags: Uint8Array;
  private readonly freeSlots: number[] = [];
  private used = 0;
  /** Nearly always 0, which saves every decision the look at the disks of the volume's replicas. */
  private evictingCount = 0;

  constructor(
    private settings: ClusterSettings,
    capacity: number,
  ) {
    this.rows = new Float64Array(capacity * ROW_LENGTH);
    this.facts = new Float64Array(capacity * FACTS_LENGTH);
    this.flags = new Uint8Array(capacity);
  }

  get bytes(): number {
    return this.rows.byteLength + this.facts.byteLength + this.flags.byteLength;
  }

  allocate(): number {
    const slot = this.freeSlots.pop() ?? this.used++;
    if (slot >= this.flags.length) this.grow();
    return slot;
  }

  release(slot: number): void {
    if (this.isEvicting(slot)) this.evictingCount -= 1;
    this.flags[slot] = 0;
    this.rows[slot * ROW_LENGTH + USABLE_CLASS] = IMPOSSIBLE;
    this.freeSlots.push(slot);
  }

  write(slot: number, figures: DiskFigures, state: DiskState, classId: number): void {
    const fact = slot * FACTS_LENGTH;
    this.facts[fact + AVAILABLE] = figures.storageAvailableBytes;
    this.facts[fact + RESERVED] = figures.storageReservedBytes;
    this.facts[fact + MAXIMUM] = figures.storageMaximumBytes;
    this.facts[fact + SCHEDULED] = figures.storageScheduledBytes;
    this.facts[fact + WRITTEN] = figures.writtenBytes;
    this.facts[fact + CLASS] = classId;
    if (this.isEvicting(slot)) this.evictingCount -= 1;
    if (state.evicting) this.evictingCount += 1;
    this.flags[slot] = (state.open ? OPEN : 0) | (state.evicting ? EVICTING : 0);
    this.derive(slot);
  }

  /** Adds to what is booked on a disk and to what of it is written; negative figures take off. */
  book(slot: number, sizeBytes: number, writtenBytes: number): void {
    const { facts } = this;
    const fact = slot * FACTS_LENGTH;
    facts[fact + SCHEDULED] = at(facts, fact + SCHEDULED) + sizeBytes;
    facts[fact + WRITTEN] = at(facts, fact + WRITTEN) + writtenBytes;
    this.deriveBooked(slot);
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
    return at(this.facts, slot * FACTS_LENGTH + TOTAL);
  }
  classOf(slot: number): number {
    return at(this.facts, slot * FACTS_LENGTH + CLASS);
  }
  isPossible(slot: number): boolean {
    return at(this.rows, slot * ROW_LENGTH + USABLE_CLASS) !== IMPOSSIBLE;
  }
  isOpen(slot: number): boolean {
    return (at(this.flags, slot) & OPEN) !== 0;
  }
  isEvicting(slot: number): boolean {
    return this.evictingCount > 0 && (at(this.flags, slot) & EVICTING) !== 0;
  }

  figures(slot: number): DiskFigures {
    const fact = slot * FACTS_LENGTH;
    return {
      storageAvailableBytes: at(this.facts, fact + AVAILABLE),
      storageReservedBytes: at(this.facts, fact + RESERVED),
      storageMaximumBytes: at(this.facts, fact + MAXIMUM),
      storageScheduledBytes: at(this.facts, fact + SCHEDULED),
      writtenBytes: at(this.facts, fact + WRITTEN),
    };
  }

  private derive(slot: number): void {
    const figures = this.figures(slot);
    const row = slot * ROW_LENGTH;
    const fact = slot * FACTS_LENGTH;
    this.facts[fact + LIMIT] = provisionableBytes(figures, this.settings);
    this.rows[row + FREE] = freeAboveMinimum(figures, this.settings);
    this.facts[fact + TOTAL] = totalBytes(figures);
    this.deriveBooked(slot);
  }

  /** The part that a booking changes, without an object: this runs twice for every decision. */
  private deriveBooked(slot: number): void {
    const { rows, facts } = this;
    const row = slot * ROW_LENGTH;
    const fact = slot * FACTS_LENGTH;
    const scheduled = at(facts, fact + SCHEDULED);
    rows[row + HEADROOM] = at(facts, fact + LIMIT) - scheduled;
    rows[row + USABLE] = usableOnceWritten(
      at(facts, fact + AVAILABLE),
      at(facts, fact + RESERVED),
      scheduled,
      at(facts, fact + WRITTEN),
    );
    this.judge(slot);
  }

  /** A disk that no request could use is left out of every sum, so that the sums bound what they are asked for. */
  private judge(slot: number): void {
    const row = slot * ROW_LENGTH;
    const fact = slot * FACTS_LENGTH;
    const isPossible = this.isOpen(slot) && this.headroom(slot) >= 0 && this.free(slot) > 0;
    this.rows[row + USABLE_CLASS] = isPossible ? at(this.facts, fact + CLASS) : IMPOSSIBLE;
  }

  private grow(): void {
    const capacity = Math.max(16, this.flags.length * 2);
    const rows = new Float64Array(capacity * ROW_LENGTH);
    const facts = new Float64Array(capacity * FACTS_LENGTH);
    const flags = new Uint8Array(capacity);
    rows.set(this.rows);
    facts.set(this.facts);
    flags.set(this.flags);
    this.rows = rows;
    this.facts = facts;
    this.flags = flags;
  }
}

/** Nothing passes the first formula on a disk without size or free bytes, whatever the minimum. */
function freeAboveMinimum(figures: DiskFigures, settings: ClusterSettings): number {
  if (figures.storageMaximumBytes <= 0 || figures.storageAvailableBytes <= 0) return Number.NEGATIVE_INFINITY;
  return figures.storageAvailableBytes - minimalAvailableBytes(figures, settings);
}
