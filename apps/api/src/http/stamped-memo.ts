import { contentHash } from './content-hash.js';

/** Memory of an entry beside its bytes: key, stamp, hash and objects. */
const OVERHEAD_BYTES = 1_000;

/** A serialized part of an answer, and the hash of its content. */
export type WrittenText = { readonly bytes: Buffer; readonly hash: string };
type Entry = { readonly key: string; readonly stamp: string; readonly written: WrittenText };

/**
 * Memo of answers' parts, each good while its stamp is the same. When it is full, random entries are evicted: readers that cycle over more
 * than fits still hit a part of it, while evicting the oldest would give no hits.
 */
export class StampedMemo {
  private readonly entries: Entry[] = [];
  private readonly places = new Map<string, number>();
  private heldBytes = 0;

  constructor(
    private readonly bytesMax: number,
    private readonly random: () => number = Math.random,
  ) {}

  find(key: string, stamp: string): WrittenText | undefined {
    const entry = this.entries[this.places.get(key) ?? -1];
    return entry?.stamp === stamp ? entry.written : undefined;
  }

  /** @param text copied into bytes outside V8's heap, whose collections then need not look at them */
  keep(key: string, stamp: string, text: string): WrittenText {
    const bytes = ownBytes(text);
    const written = { bytes, hash: contentHash(bytes) };
    this.removeAt(this.places.get(key));
    this.places.set(key, this.entries.push({ key, stamp, written }) - 1);
    this.heldBytes += bytes.length + OVERHEAD_BYTES;
    while (this.heldBytes > this.bytesMax) this.removeAt(Math.floor(this.random() * this.entries.length));
    return written;
  }

  clear(): void {
    this.entries.length = 0;
    this.places.clear();
    this.heldBytes = 0;
  }

  /** The last entry takes the place. */
  private removeAt(place: number | undefined): void {
    const entry = place === undefined ? undefined : this.entries[place];
    const last = entry && this.entries.pop();
    if (place === undefined || entry === undefined || last === undefined) return;
    if (last !== entry) {
      this.entries[place] = last;
      this.places.set(last.key, place);
    }
    this.places.delete(entry.key);
    this.heldBytes -= entry.written.bytes.length + OVERHEAD_BYTES;
  }
}

/** Copied into memory of their own: small buffers usually share a pool, which lives as long as any of them. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
