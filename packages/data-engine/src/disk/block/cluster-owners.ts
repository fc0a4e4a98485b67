/**
 * Owner table of a block disk: for each cluster 16 bits, 0 if it is free, otherwise its copy's slot plus 1.
 *
 * All processes of a node allocate from it, so it lives in the page cache. It is never synced for its own sake: after
 * a power cut it is rebuilt from the copies (`recover.ts`). It may name an owner of a cluster that the copy does not
 * use; the reverse never happens while the disk is open.
 */
import { CLUSTER_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import type { BlockDisk } from './block-disk.js';

const OWNER_BYTES = 2;
/** Clusters searched in one read: the owners of 2 GiB. */
const SEARCHED_CLUSTERS = 32 * 1024;

export class ClusterOwners {
  /** Search start: as far as this process knows, no cluster before it is free. So freed clusters are soon reused. */
  private cursor: number;

  constructor(private readonly disk: BlockDisk) {
    this.cursor = disk.layout.reserve;
  }

  /**
   * Allocates `least` to `most` clusters to a copy. Metadata (`description`) may use the reserve when nothing else is
   * left.
   *
   * @throws an error with the code `ENOSPC`
   */
  take(slot: number, least: number, most: number, use: 'data' | 'description'): Promise<number[]> {
    return this.disk.alone(async () => {
      const { clusterCount, reserve } = this.disk.layout;
      const from = this.cursor;
      const found = await this.findFree(from, clusterCount, most);
      if (found.length < most) {
        const again = await this.findFree(reserve, from, most - found.length);
        found.push(...again);
      }
      if (found.length < least && use === 'description') {
        found.push(...(await this.findFree(0, reserve, least - found.length)));
      }
      if (found.length < least) throw noSpace();
      const last = found.at(-1) ?? reserve;
      // Unless a cluster before it was freed meanwhile.
      if (this.cursor === from) this.cursor = last + 1 >= clusterCount || last < reserve ? reserve : last + 1;
      await this.set(found, slot + 1);
      return found;
    });
  }

  /** Frees clusters. No reader may still use them, and nothing on the disk may name them. */
  async give(clusters: readonly number[]): Promise<void> {
    await this.set(clusters, 0);
    for (const cluster of clusters)
      this.cursor = Math.max(this.disk.layout.reserve, Math.min(this.cursor, cluster));
  }

  /** All clusters of a copy, sorted. */
  async of(slot: number): Promise<number[]> {
    const found: number[] = [];
    for await (const { first, owners } of this.batches(0, this.disk.layout.clusterCount)) {
      for (let index = 0; index < owners.length; index += 1) {
        if (owners[index] === slot + 1) found.push(first + index);
      }
    }
    return found;
  }

  /** Bytes that data may still take. */
  async freeBytes(): Promise<number> {
    let free = 0;
    const { reserve, clusterCount } = this.disk.layout;
    for await (const { owners } of this.batches(reserve, clusterCount)) {
      for (let index = 0; index < owners.length; index += 1) if (owners[index] === 0) free += 1;
    }
    return free * CLUSTER_BYTES;
  }

  /** Replaces the whole table. */
  async write(owners: Uint16Array): Promise<void> {
    const bytes = Buffer.from(owners.buffer, owners.byteOffset, owners.byteLength);
    for (let at = 0; at < bytes.length; at += MIB) {
      await this.disk.plain.write([bytes.subarray(at, at + MIB)], this.disk.layout.ownersOffset + at);
    }
  }

  private async findFree(from: number, end: number, most: number): Promise<number[]> {
    const found: number[] = [];
    if (most === 0) return found;
    for await (const { first, owners } of this.batches(from, end)) {
      for (let index = owners.indexOf(0); index !== -1; index = owners.indexOf(0, index + 1)) {
        found.push(first + index);
        if (found.length === most) return found;
      }
    }
    return found;
  }

  /** Reads owners in the processor's byte order: little-endian on all supported platforms. */
  private async *batches(from: number, end: number): AsyncGenerator<{ first: number; owners: Uint16Array }> {
    const all = new Uint16Array(Math.min(SEARCHED_CLUSTERS, Math.max(0, end - from)));
    for (let first = from; first < end; first += all.length) {
      const owners = all.subarray(0, Math.min(all.length, end - first));
      const bytes = Buffer.from(owners.buffer, 0, owners.byteLength);
      await this.disk.plain.readInto(bytes, this.disk.layout.ownersOffset + first * OWNER_BYTES);
      yield { first, owners };
    }
  }

  private async set(clusters: readonly number[], owner: number): Promise<void> {
    const sorted = [...clusters].sort((a, b) => a - b);
    for (let at = 0; at < sorted.length; ) {
      const first = sorted[at] ?? 0;
      let count = 1;
      while (sorted[at + count] === first + count) count += 1;
      const bytes = Buffer.alloc(count * OWNER_BYTES);
      for (let index = 0; index < count; index += 1) bytes.writeUInt16LE(owner, index * OWNER_BYTES);
      await this.disk.plain.write([bytes], this.disk.layout.ownersOffset + first * OWNER_BYTES);
      at += count;
    }
  }
}

function noSpace(): Error {
  return Object.assign(new Error('ENOSPC: no space left on the block disk'), { code: 'ENOSPC' });
}
