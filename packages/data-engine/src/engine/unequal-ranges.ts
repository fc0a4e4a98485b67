/** Ranges in which copies may differ during resync: the whole device, until the copies have reported their marks. */
export type Range = { start: number; end: number };

export class UnequalRanges {
  private ranges: readonly Range[] | undefined;
  /** Everything before this offset is equal. */
  private doneTo = 0;

  /** Sets the ranges: ordered, without overlaps. */
  become(ranges: readonly Range[]): void {
    this.ranges = ranges;
  }

  equalTo(offset: number): void {
    this.doneTo = offset;
  }

  /** The first part of the given range in which copies may differ. */
  firstIn(start: number, end: number): Range | undefined {
    const from = Math.max(start, this.doneTo);
    if (from >= end) return undefined;
    if (this.ranges === undefined) return { start: from, end };
    const found = this.ranges[this.indexAfter(from)];
    if (found === undefined || found.start >= end) return undefined;
    return { start: Math.max(found.start, from), end: Math.min(found.end, end) };
  }

  /** Index of the first range that ends after the offset. */
  private indexAfter(offset: number): number {
    let low = 0;
    let high = this.ranges?.length ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ranges?.[middle]?.end ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
