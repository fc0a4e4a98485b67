import type { ClusterOwners } from './cluster-owners.js';

/**
 * What a copy takes at once, so that writing a stream takes the disk's lock once for each MiB. What is left over goes
 * back when the copy is closed.
 */
const TAKEN_AT_ONCE = 16;

/** The clusters that a copy has taken and not used yet. */
export class CopySpace {
  private readonly ready: number[] = [];
  private refilling: Promise<void> | undefined;

  constructor(
    private readonly owners: ClusterOwners,
    private readonly place: number,
  ) {}

  /**
   * Clusters for data, side by side where there is room. What is in them is anything.
   *
   * @throws an error with the code `ENOSPC`
   */
  async data(count: number): Promise<number[]> {
    while (this.ready.length < count) {
      this.refilling ??= this.refill(count - this.ready.length).finally(() => {
        this.refilling = undefined;
      });
      await this.refilling;
    }
    return this.ready.splice(0, count);
  }

  /** Clusters for what describes the copy. @throws an error with the code `ENOSPC` */
  descriptions(count: number): Promise<number[]> {
    return this.owners.take(this.place, count, count, 'description');
  }

  /** Nothing on the disk says any more that the copy has them. */
  give(clusters: readonly number[]): Promise<void> {
    return this.owners.give(clusters);
  }

  /** Gives back what was not used. */
  async close(): Promise<void> {
    await this.refilling?.catch(() => undefined);
    await this.owners.give(this.ready.splice(0));
  }

  private async refill(least: number): Promise<void> {
    const most = Math.max(least, TAKEN_AT_ONCE);
    this.ready.push(...(await this.owners.take(this.place, least, most, 'data')));
  }
}
