/** When the users of a volume last changed each of its regions, so that those which have gone cold can be told to the copies. */
import { REGION_BYTES } from '../replica/intent-map.js';

export class RegionUse {
  /** In the order in which regions were first changed. Regions that are not here are cold. */
  private readonly changedMs = new Map<number, number>();

  /** Of regions that may be marked on the copies because of this engine's changes. */
  get size(): number {
    return this.changedMs.size;
  }

  note(start: number, end: number, nowMs: number): void {
    const last = Math.floor((end - 1) / REGION_BYTES);
    for (let region = Math.floor(start / REGION_BYTES); region <= last; region += 1) {
      this.changedMs.set(region, nowMs);
    }
  }

  isCold(region: number, sinceMs: number): boolean {
    return (this.changedMs.get(region) ?? Number.NEGATIVE_INFINITY) <= sinceMs;
  }

  hasCold(sinceMs: number): boolean {
    for (const changedMs of this.changedMs.values()) if (changedMs <= sinceMs) return true;
    return false;
  }

  /** The moment since which so many of the regions were not changed, the least recently changed ones. */
  oldest(count: number): number {
    const sorted = [...this.changedMs.values()].sort((a, b) => a - b);
    return sorted[Math.min(count, sorted.length) - 1] ?? Number.NEGATIVE_INFINITY;
  }

  /** The copies have been told of those. */
  forgetCold(sinceMs: number): void {
    for (const [region, changedMs] of this.changedMs) if (changedMs <= sinceMs) this.changedMs.delete(region);
  }
}
