/**
 * What rebuilds have asked of each layer so far. A trail holds 16 bytes for each MiB of its layer: it is given back when it
 * has come to its end, can't any more, has not been used for a while, or others need its place.
 */
import { SYSTEM_TIME, type Time } from '../time.js';
import type { HashTrail } from './layer-checksum.js';

/** A rebuild asks for one layer after the other, and reads a little ahead. */
const TRAILS_MAX = 4;
/** A target asks several times a second; one that is paused for longer has its checksum found by hashing, later. */
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

  /** `undefined` where none was begun, or what is asked for leaves a gap: another source has the part between. */
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
