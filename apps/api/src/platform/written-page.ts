const OPEN = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');

/** Nothing, where it was not asked for. */
export type TotalView = { readonly total?: number; readonly totalIsAtLeast?: boolean };

/** A page whose items are JSON already: REST sends them as they are, and whoever needs objects reads them. */
export class WrittenPage<View> {
  constructor(
    private readonly written: readonly Buffer[],
    readonly nextCursor: string | null,
    private readonly total: TotalView = {},
  ) {}

  get items(): View[] {
    // What was written from views is read as views.
    return this.written.map((item) => JSON.parse(item.toString()) as View);
  }

  /** What `JSON.stringify` makes of the page. @param lend gives the memory that it is written to */
  toBytes(lend: (lengthBytes: number) => Buffer): Buffer {
    const items = this.written.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
    const rest = JSON.stringify({ nextCursor: this.nextCursor, ...this.total });
    const parts = [OPEN, ...items, Buffer.from(`],${rest.slice(1)}`)];
    const bytes = lend(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) at += part.copy(bytes, at);
    return bytes;
  }

  toJSON() {
    return { items: this.items, nextCursor: this.nextCursor, ...this.total };
  }
}
