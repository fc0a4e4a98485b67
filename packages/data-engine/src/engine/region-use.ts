/**
 * Last-change times of a volume's regions, from which the engine finds cold regions whose write-intent marks can be
 * cleared.
 */

export class RegionUse {
  /** Times in milliseconds by region, least recently changed first. Regions that are not listed are cold. */
  private readonly changedMs = new Map<number, number>();

  /** Number of regions that this engine's changes may have marked on the copies. */
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

  /**
   * The time of the last change of the `count` least recently changed regions: all of them were changed at it or
   * before.
   */
  oldest(count: number): number {
    const sorted = [...this.changedMs.values()].sort((a, b) => a - b);
    return sorted[Math.min(count, sorted.length) - 1] ?? Number.NEGATIVE_INFINITY;
  }

  /** Removes regions whose marks the copies were asked to clear. */
  forgetCold(sinceMs: number): void {
    for (const [region, changedMs] of this.changedMs) if (changedMs <= sinceMs) this.changedMs.delete(region);
  }
}

import { REGION_BYTES } from '@holdfast/core/model/bytes.js';
