/**
 * Trails of window hashes that rebuilds have requested, by layer. A trail holds 16 bytes for each MiB of its layer.
 * It is dropped when it is complete, can't be completed any more, was not used for a while, or another needs its
 * room.
 */
import { SYSTEM_TIME, type Time } from '../base/time.js';
import type { HashTrail } from '../layers/layer-checksum.js';

/** Maximum number of trails. A rebuild reads one layer after the other, and a little ahead. */
const TRAILS_MAX = 4;
/**
 * Lifetime without use. A target asks several times a second; if it is paused for longer, its checksum is computed by
 * hashing later.
 */
const UNUSED_MS_MAX = 10 * 60_000;

export class ReadTrails {
  private readonly trails = new Map<string, { trail: HashTrail; usedMs: number }>();

  constructor(private readonly time: Pick<Time, 'nowMs'> = SYSTEM_TIME) {}

  get size(): number {
    return this.trails.size;
  }

  begin(layerId: string, trail: HashTrail): void {
    this.trails.delete(layerId);
    const [oldest] = this.trails.keys();
    if (this.trails.size >= TRAILS_MAX && oldest !== undefined) this.trails.delete(oldest);
    this.trails.set(layerId, { trail, usedMs: this.time.nowMs() });
  }

  /** `undefined` if no trail was begun, or the query leaves a gap: another source has the part between. */
  at(layerId: string, firstWindow: number): HashTrail | undefined {
    const found = this.trails.get(layerId);
    if (found === undefined) return undefined;
    this.trails.delete(layerId);
    if (!found.trail.goesOnAt(firstWindow)) return undefined;
    this.trails.set(layerId, { ...found, usedMs: this.time.nowMs() });
    return found.trail;
  }

  end(layerId: string): void {
    this.trails.delete(layerId);
  }

  forgetUnused(): void {
    const oldestMs = this.time.nowMs() - UNUSED_MS_MAX;
    for (const [layerId, { usedMs }] of this.trails) if (usedMs < oldestMs) this.trails.delete(layerId);
  }

  clear(): void {
    this.trails.clear();
  }
}
