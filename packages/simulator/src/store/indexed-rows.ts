/** What of a row an index goes by; `undefined`: the row is not in it. */
type Index<Row> = (row: Row) => string | undefined;

/**
 * Table with indexes. A view is made of a few rows, many times a second, and must not cost a look at all of them: as in
 * Postgres, where each of these look-ups has an index too.
 */
export class IndexedRows<Key, Row, Name extends string> extends Map<Key, Row> {
  /** Grows with every change: what was made of the rows is still so while it stays. */
  changes = 0;
  private readonly changesBy = new Map<Name, number>();
  private readonly groups: ReadonlyMap<Name, Map<string, Map<Key, Row>>>;
  private readonly indexes: readonly (readonly [Name, Index<Row>])[];

  constructor(indexes: Readonly<Record<Name, Index<Row>>>) {
    super();
    // The keys of a record by names are these names.
    this.indexes = Object.entries(indexes) as [Name, Index<Row>][];
    this.groups = new Map(this.indexes.map(([name]) => [name, new Map()]));
  }

  /** Grows with every change of a row that is in the index. */
  changesOf(name: Name): number {
    return this.changesBy.get(name) ?? 0;
  }

  /** Rows with that value. */
  by(name: Name, value: string | undefined): Row[] {
    const rows = value === undefined ? undefined : this.groups.get(name)?.get(value);
    return rows === undefined ? [] : [...rows.values()];
  }

  /** Values that rows have. */
  valuesOf(name: Name): string[] {
    return [...(this.groups.get(name)?.keys() ?? [])];
  }

  override set(key: Key, row: Row): this {
    const before = this.get(key);
    for (const [name, readKey] of this.indexes) {
      const was = before === undefined ? undefined : readKey(before);
      const value = readKey(row);
      if (was !== undefined && was !== value) this.leave(name, was, key);
      if (value !== undefined) this.enter(name, value, key, row);
    }
    this.changes += 1;
    return super.set(key, row);
  }

  override delete(key: Key): boolean {
    const before = this.get(key);
    if (before === undefined) return false;
    for (const [name, readKey] of this.indexes) {
      const was = readKey(before);
      if (was !== undefined) this.leave(name, was, key);
    }
    this.changes += 1;
    return super.delete(key);
  }

  private enter(name: Name, value: string, key: Key, row: Row): void {
    this.changesBy.set(name, this.changesOf(name) + 1);
    const group = this.groups.get(name);
    const rows = group?.get(value);
    if (rows === undefined) group?.set(value, new Map([[key, row]]));
    else rows.set(key, row);
  }

  private leave(name: Name, value: string, key: Key): void {
    this.changesBy.set(name, this.changesOf(name) + 1);
    const group = this.groups.get(name);
    const rows = group?.get(value);
    rows?.delete(key);
    if (rows?.size === 0) group?.delete(value);
  }
}
