/** Key of a row in an index; `undefined`: the row is not in it. */
type Index<Row> = (row: Row) => string | undefined;

type Group<Key, Row> = {
  readonly rows: Map<Key, Row>;
  /** The rows, cached from the first read until they change. */
  list: readonly Row[] | undefined;
};

const NONE: readonly never[] = [];

/**
 * Table with indexes. A view reads a few rows, many times a second, and must not scan all of them: as in Postgres, where each of
 * these look-ups has an index too.
 */
export class IndexedRows<Key, Row, Name extends string> extends Map<Key, Row> {
  /** Grows with every change: results computed from the rows hold while it is unchanged. */
  changes = 0;
  private readonly changesBy = new Map<Name, number>();
  private readonly indexes: readonly { name: Name; read: Index<Row>; groups: Map<string, Group<Key, Row>> }[];
  private readonly groups: ReadonlyMap<Name, Map<string, Group<Key, Row>>>;

  constructor(indexes: Readonly<Record<Name, Index<Row>>>) {
    super();
    // The keys of a record by names are these names.
    const named = Object.entries(indexes) as [Name, Index<Row>][];
    this.indexes = named.map(([name, read]) => ({ name, read, groups: new Map() }));
    this.groups = new Map(this.indexes.map(({ name, groups }) => [name, groups]));
  }

  /** Grows with every change of a row that is in the index. */
  changesOf(name: Name): number {
    return this.changesBy.get(name) ?? 0;
  }

  /** Rows with that value: the same list until one of them changes, so results may be kept with it. */
  by(name: Name, value: string | undefined): readonly Row[] {
    const group = value === undefined ? undefined : this.groups.get(name)?.get(value);
    if (group === undefined) return NONE;
    group.list ??= [...group.rows.values()];
    return group.list;
  }

  /** Values that rows have. */
  valuesOf(name: Name): string[] {
    return [...(this.groups.get(name)?.keys() ?? [])];
  }

  override set(key: Key, row: Row): this {
    const before = this.get(key);
    for (const index of this.indexes) {
      const was = before === undefined ? undefined : index.read(before);
      const value = index.read(row);
      if (was === undefined && value === undefined) continue;
      if (was !== undefined && was !== value) leave(index.groups, was, key);
      if (value !== undefined) enter(index.groups, value, key, row);
      const isMoved = was !== undefined && value !== undefined && was !== value;
      this.changesBy.set(index.name, this.changesOf(index.name) + (isMoved ? 2 : 1));
    }
    this.changes += 1;
    return super.set(key, row);
  }

  override delete(key: Key): boolean {
    const before = this.get(key);
    if (before === undefined) return false;
    for (const { name, read, groups } of this.indexes) {
      const was = read(before);
      if (was === undefined) continue;
      leave(groups, was, key);
      this.changesBy.set(name, this.changesOf(name) + 1);
    }
    this.changes += 1;
    return super.delete(key);
  }
}

function enter<Key, Row>(groups: Map<string, Group<Key, Row>>, value: string, key: Key, row: Row): void {
  const group = groups.get(value);
  if (group === undefined) groups.set(value, { rows: new Map([[key, row]]), list: undefined });
  else {
    group.rows.set(key, row);
    group.list = undefined;
  }
}

function leave<Key, Row>(groups: Map<string, Group<Key, Row>>, value: string, key: Key): void {
  const group = groups.get(value);
  if (group === undefined) return;
  group.rows.delete(key);
  group.list = undefined;
  if (group.rows.size === 0) groups.delete(value);
}
