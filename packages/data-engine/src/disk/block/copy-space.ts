import type { ClusterOwners } from './cluster-owners.js';

/**
 * Clusters that a copy allocates at once: a sixteenth of what it has used since it was opened, from 1 MiB to 16 MiB.
 * Allocation writes the disk's owner table, which on a file waits for all direct writes in flight and blocks new
 * ones. Unused clusters are freed when the copy is closed.
 */
const TAKEN_MIN = 16;
const TAKEN_MAX = 256;
const TAKEN_SHARE = 1 / 16;

/** Pool of clusters that a copy has allocated and not used yet. */
export class CopySpace {
  private readonly ready: number[] = [];
  private refilling: Promise<void> | undefined;
  private used = 0;

  constructor(
    private readonly owners: ClusterOwners,
    private readonly slot: number,
  ) {}

  /**
   * Clusters for data, adjacent where possible. Their content is undefined.
   *
   * @throws an error with the code `ENOSPC`
   */
  async data(count: number): Promise<number[]> {
    while (this.ready.length < count) await this.refill(count - this.ready.length);
    this.used += count;
    const taken = this.ready.splice(0, count);
    // Refills ahead of a sequential stream. If it fails, the write that needs the clusters retries.
    const isStream = this.atOnce > TAKEN_MIN && this.ready.length < this.atOnce / 2;
    if (isStream) this.refill(1).catch(() => undefined);
    return taken;
  }

  /** Clusters for the copy's metadata. @throws an error with the code `ENOSPC` */
  descriptions(count: number): Promise<number[]> {
    return this.owners.take(this.slot, count, count, 'description');
  }

  /** Frees clusters that nothing on the disk names any more. */
  give(clusters: readonly number[]): Promise<void> {
    return this.owners.give(clusters);
  }

  /** Frees clusters that were allocated and not used. */
  async close(): Promise<void> {
    await this.refilling?.catch(() => undefined);
    await this.owners.give(this.ready.splice(0));
  }

  private get atOnce(): number {
    return Math.min(TAKEN_MAX, Math.max(TAKEN_MIN, Math.floor(this.used * TAKEN_SHARE)));
  }

  /** Serialised: concurrent callers wait for the running refill, and check again. */
  private refill(least: number): Promise<void> {
    this.refilling ??= this.take(least).finally(() => {
      this.refilling = undefined;
    });
    return this.refilling;
  }

  private async take(least: number): Promise<void> {
    const most = Math.max(least, this.atOnce);
    this.ready.push(...(await this.owners.take(this.slot, least, most, 'data')));
  }
}
