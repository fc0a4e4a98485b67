import type { VolumeId } from '@holdfast/core/model/ids.js';

/** Table whose rows belong to volumes, with those of each at hand: views are made of one volume's rows, many times. */
export class RowsOfVolumes<Key, Row extends { volumeId: VolumeId }> extends Map<Key, Row> {
  private readonly byVolume = new Map<VolumeId, Map<Key, Row>>();

  ofVolume(volumeId: VolumeId): Row[] {
    return [...(this.byVolume.get(volumeId)?.values() ?? [])];
  }

  override set(key: Key, row: Row): this {
    const rows = this.byVolume.get(row.volumeId) ?? new Map<Key, Row>();
    this.byVolume.set(row.volumeId, rows.set(key, row));
    return super.set(key, row);
  }

  override delete(key: Key): boolean {
    const row = this.get(key);
    if (row !== undefined) this.byVolume.get(row.volumeId)?.delete(key);
    return super.delete(key);
  }
}
