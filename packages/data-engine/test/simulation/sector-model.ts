/**
 * What one copy may show, sector by sector: each holds the number of a write, or 0 for zeros. A write that no flush has covered may be there
 * or not after a power cut, and a disk writes a sector as a whole.
 */
type Version = { readonly order: number; readonly value: number };
type Sector = {
  /** What a power cut may leave, oldest first. */
  possible: Version[];
  /** What a read shows now; `undefined` when any of the possible ones may be there. */
  now: Version | undefined;
};

/** What a flush that begins at a moment has covered once it is acknowledged. */
export type Moment = readonly (Version | undefined)[];
/** A content: a value for each sector. */
export type Contents = readonly number[];

export class SectorModel {
  private readonly sectors: Sector[];
  private orders = 0;

  constructor(count: number) {
    const zeros = this.version(0);
    this.sectors = Array.from({ length: count }, () => ({ possible: [zeros], now: zeros }));
  }

  /** The write begins: from now on it may be there. */
  writing(first: number, values: Contents): void {
    for (const [index, value] of values.entries())
      this.sector(first + index).possible.push(this.version(value));
  }

  /** It was acknowledged. */
  wrote(first: number, count: number, isForGood: boolean): void {
    for (let index = first; index < first + count; index += 1) {
      const sector = this.sector(index);
      sector.now = sector.possible.at(-1);
      if (isForGood) sector.possible = sector.possible.slice(-1);
    }
  }

  /** It was refused, in whole or in part. */
  refused(first: number, count: number): void {
    for (let index = first; index < first + count; index += 1) this.sector(index).now = undefined;
  }

  moment(): Moment {
    return this.sectors.map(({ now }) => now);
  }

  flushed(moment: Moment): void {
    for (const [index, version] of moment.entries()) {
      const sector = this.sector(index);
      if (version !== undefined)
        sector.possible = sector.possible.filter(({ order }) => order >= version.order);
    }
  }

  /** Nothing else was there, and it is durable. */
  replace(contents: Contents): void {
    for (const [index, value] of contents.entries()) {
      const version = this.version(value);
      const sector = this.sector(index);
      sector.possible = [version];
      sector.now = version;
    }
  }

  /** Whatever was not flushed may be gone. */
  lostUnflushed(): void {
    for (const sector of this.sectors) if (sector.possible.length > 1) sector.now = undefined;
  }

  /** @returns the first sector that shows what it must not */
  wrong(first: number, held: Contents): number | undefined {
    const at = held.findIndex((value, index) => {
      const { now, possible } = this.sector(first + index);
      return !(now === undefined ? possible : [now]).some((version) => version.value === value);
    });
    return at < 0 ? undefined : first + at;
  }

  possibleAt(sector: number): number[] {
    return this.sector(sector).possible.map(({ value }) => value);
  }

  private version(value: number): Version {
    this.orders += 1;
    return { order: this.orders, value };
  }

  private sector(index: number): Sector {
    const found = this.sectors[index];
    if (found === undefined) throw new Error(`there is no sector ${index}`);
    return found;
  }
}
