/** Where each blob lies, in compact memory: 50 bytes for each, so that a million of blocks, 1 TiB, take 50 MiB. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BLOBS_MAX, type BlobLocation, CODEC, ID_BYTES, type IndexEntry } from '../model/format.js';

const FIRST_CAPACITY = 1024;
const GONE = 0xffffffff;

/** An open-addressed hash table over ids, which are as good as random. */
export class BlobTable {
  private capacity = FIRST_CAPACITY;
  private slots = new Uint32Array(2 * FIRST_CAPACITY);
  private ids = Buffer.alloc(FIRST_CAPACITY * ID_BYTES);
  private packOf = new Uint32Array(FIRST_CAPACITY);
  private offsets = new Uint32Array(FIRST_CAPACITY);
  private stored = new Uint32Array(FIRST_CAPACITY);
  private raw = new Uint32Array(FIRST_CAPACITY);
  private traits = new Uint8Array(FIRST_CAPACITY);
  private readonly packNames: string[] = [];
  private readonly packNumbers = new Map<string, number>();
  private used = 0;

  /** Number of entries, those of dropped packs included: numbers of entries are below it. */
  get size(): number {
    return this.used;
  }

  /** The entry's number, which stays; `undefined`: the blob is not known. */
  numberOf(id: Uint8Array): number | undefined {
    const at = this.slots[this.slotOf(id)] ?? 0;
    return at === 0 || this.packOf[at - 1] === GONE ? undefined : at - 1;
  }

  has(id: Uint8Array): boolean {
    return this.numberOf(id) !== undefined;
  }

  find(id: Uint8Array): BlobLocation | undefined {
    const number = this.numberOf(id);
    return number === undefined ? undefined : this.entry(number);
  }

  /** @throws RangeError for a number that no entry has */
  entry(number: number): IndexEntry {
    const traits = this.traits[number] ?? 0;
    const pack = this.packNames[this.packOf[number] ?? GONE];
    if (pack === undefined) throw new RangeError(`no entry ${number}`);
    return {
      id: this.ids.subarray(number * ID_BYTES, (number + 1) * ID_BYTES),
      pack,
      offset: this.offsets[number] ?? 0,
      storedBytes: this.stored[number] ?? 0,
      rawBytes: this.raw[number] ?? 0,
      codec: (traits & 1) === 1 ? CODEC.zstd : CODEC.none,
      kind: traits >> 1 === 1 ? 1 : 0,
    };
  }

  *entries(): Generator<IndexEntry & { number: number }> {
    for (let number = 0; number < this.used; number += 1)
      if (this.packOf[number] !== GONE) yield { ...this.entry(number), number };
  }

  /** Replaces where the blob lay before. */
  set(entry: IndexEntry): void {
    const known = this.slots[this.slotOf(entry.id)] ?? 0;
    this.write(known === 0 ? this.added(entry.id) : known - 1, entry);
  }

  private added(id: Uint8Array): number {
    if (this.used >= BLOBS_MAX)
      throw new StorageFault('backup.too_large', {
        publicMessage: `the repository has more than ${BLOBS_MAX} different blocks`,
      });
    if (this.used === this.capacity) this.grow();
    const number = this.used;
    const slot = this.slotOf(id);
    this.ids.set(id, number * ID_BYTES);
    this.used += 1;
    this.slots[slot] = this.used;
    return number;
  }

  /** Forgets all blobs that lie in these packs. */
  drop(packs: ReadonlySet<string>): void {
    const numbers = new Set([...packs].map((pack) => this.packNumbers.get(pack)));
    for (let number = 0; number < this.used; number += 1)
      if (numbers.has(this.packOf[number])) this.packOf[number] = GONE;
  }

  private write(number: number, { pack, offset, storedBytes, rawBytes, codec, kind }: IndexEntry): void {
    this.packOf[number] = this.numberOfPack(pack);
    this.offsets[number] = offset;
    this.stored[number] = storedBytes;
    this.raw[number] = rawBytes;
    this.traits[number] = codec | (kind << 1);
  }

  private numberOfPack(pack: string): number {
    const known = this.packNumbers.get(pack);
    if (known !== undefined) return known;
    this.packNames.push(pack);
    this.packNumbers.set(pack, this.packNames.length - 1);
    return this.packNames.length - 1;
  }

  /** The slot that holds the id, or the free one where it belongs. Half of all slots are free, so that one is found soon. */
  private slotOf(id: Uint8Array): number {
    const mask = this.slots.length - 1;
    const first = ((id[0] ?? 0) | ((id[1] ?? 0) << 8) | ((id[2] ?? 0) << 16) | ((id[3] ?? 0) << 24)) >>> 0;
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const at = this.slots[slot] ?? 0;
      if (at === 0 || this.ids.compare(id, 0, ID_BYTES, (at - 1) * ID_BYTES, at * ID_BYTES) === 0)
        return slot;
    }
  }

  private grow(): void {
    this.capacity *= 2;
    const larger = Buffer.alloc(this.capacity * ID_BYTES);
    this.ids.copy(larger);
    this.ids = larger;
    this.packOf = widened(this.packOf, this.capacity);
    this.offsets = widened(this.offsets, this.capacity);
    this.stored = widened(this.stored, this.capacity);
    this.raw = widened(this.raw, this.capacity);
    const traits = new Uint8Array(this.capacity);
    traits.set(this.traits);
    this.traits = traits;
    this.slots = new Uint32Array(2 * this.capacity);
    for (let number = 0; number < this.used; number += 1)
      this.slots[this.slotOf(this.ids.subarray(number * ID_BYTES, (number + 1) * ID_BYTES))] = number + 1;
  }
}

function widened(from: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(capacity);
  to.set(from);
  return to;
}
