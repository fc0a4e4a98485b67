import type { ClusterOwners } from './cluster-owners.js';

/**
 * What a copy takes at once: a sixteenth of what it has used since it was opened, from 1 MiB to 16 MiB. Taking writes the
 * disk's owners, and on a file that waits for all direct writes under way and holds up the next ones. What is left over
 * goes back when the copy is closed.
 */
const TAKEN_MIN = 16;
const TAKEN_MAX = 256;
const TAKEN_SHARE = 1 / 16;

/** The clusters that a copy has taken and not used yet. */
export class CopySpace {
  private readonly ready: number[] = [];
  private refilling: Promise<void> | undefined;
  private used = 0;

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
    while (this.ready.length < count) await this.refill(count - this.ready.length);
    this.used += count;
    const taken = this.ready.splice(0, count);
    // A stream finds the next ones there. One that fails is tried again by whoever needs them.
    const isStream = this.atOnce > TAKEN_MIN && this.ready.length < this.atOnce / 2;
    if (isStream) this.refill(1).catch(() => undefined);
    return taken;
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

  private get atOnce(): number {
    return Math.min(TAKEN_MAX, Math.max(TAKEN_MIN, Math.floor(this.used * TAKEN_SHARE)));
  }

  /** One at a time: whoever comes meanwhile waits for it, and looks again. */
  private refill(least: number): Promise<void> {
    this.refilling ??= this.take(least).finally(() => {
      this.refilling = undefined;
    });
    return this.refilling;
  }

  private async take(least: number): Promise<void> {
    const most = Math.max(least, this.atOnce);
    this.ready.push(...(await this.owners.take(this.place, least, most, 'data')));
  }
}
