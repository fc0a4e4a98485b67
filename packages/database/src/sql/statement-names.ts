/**
 * Names of repeated statements. Postgres parses and plans a named one once for each connection, and only executes it after that
 * (docs/design/reconciliation.md).
 */

/** The store and the API's fixed queries are some 400. Each costs a connection that has asked it 10 to 50 kB. */
const NAMES_MAX = 500;
/** Lists use texts made from filters, most of which occur once. */
const SEEN_ONCE_MAX = 2_000;
/** Text that is planned; one statement only, since a named one can't be several. */
const PLANNED = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b[^;]*$/;

export class StatementNames {
  private readonly names = new Map<string, string>();
  private readonly seenOnce = new Set<string>();

  /** @returns `undefined` for a first occurrence, or one that is not worth a name */
  nameOf(text: string): string | undefined {
    const name = this.names.get(text);
    if (name !== undefined || this.names.size >= NAMES_MAX) return name;
    if (this.seenOnce.delete(text)) return this.named(text);
    if (this.seenOnce.size >= SEEN_ONCE_MAX) this.seenOnce.clear();
    if (PLANNED.test(text)) this.seenOnce.add(text);
    return undefined;
  }

  private named(text: string): string {
    const name = `s${this.names.size}`;
    this.names.set(text, name);
    return name;
  }
}
