import type { VolumeId } from '@holdfast/core/model/ids.js';

/** Contents of a simulated node by volume: its copies or engines. It knows the volumes, and reports every change. */
export class ByVolumeMap<Key, Held extends { readonly volumeId: VolumeId }> extends Map<Key, Held> {
  private readonly counts = new Map<VolumeId, number>();

  constructor(private readonly onChange: (volumeId: VolumeId, key: Key) => void) {
    super();
  }

  holdsOf(volumeId: VolumeId): boolean {
    return this.counts.has(volumeId);
  }

  volumeIds(): Iterable<VolumeId> {
    return this.counts.keys();
  }

  override set(key: Key, held: Held): this {
    this.delete(key);
    this.counts.set(held.volumeId, (this.counts.get(held.volumeId) ?? 0) + 1);
    super.set(key, held);
    this.onChange(held.volumeId, key);
    return this;
  }

  override delete(key: Key): boolean {
    const held = this.get(key);
    if (held === undefined) return false;
    const count = (this.counts.get(held.volumeId) ?? 0) - 1;
    if (count > 0) this.counts.set(held.volumeId, count);
    else this.counts.delete(held.volumeId);
    super.delete(key);
    this.onChange(held.volumeId, key);
    return true;
  }

  override clear(): void {
    for (const key of [...this.keys()]) this.delete(key);
  }
}
