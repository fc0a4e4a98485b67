/**
 * Exact sum of whole bytes, also past 2^53: a hundred thousand disks of 16 TiB have 1.7e18 bytes, and a double
 * would round differently for every order of adding.
 *
 * Two limbs instead of a BigInt, because the index adds on every booking and a BigInt allocates each time.
 */
const LIMB = 2 ** 40;

export class ExactSum {
  private high = 0;
  private low = 0;

  clear(): void {
    this.high = 0;
    this.low = 0;
  }

  /** @param bytes a whole number of at most 2^53 either way; at most 2^40 of them may be added */
  add(bytes: number): void {
    const high = Math.floor(bytes / LIMB);
    this.high += high;
    this.low += bytes - high * LIMB;
    if (this.low >= LIMB) {
      this.low -= LIMB;
      this.high += 1;
    }
  }

  addSum(other: ExactSum): void {
    this.add(other.low);
    this.high += other.high;
  }

  /** The double nearest to the sum; the same for every order of adding. */
  toNumber(): number {
    return this.high * LIMB + this.low;
  }

  equals(other: ExactSum): boolean {
    return this.high === other.high && this.low === other.low;
  }
}
