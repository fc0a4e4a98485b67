import { contentHash } from './content-hash.js';
import type { WrittenText } from './stamped-memo.js';

const OPEN = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');

/** Empty unless requested. */
export type TotalView = { readonly total?: number; readonly totalIsAtLeast?: boolean };

/** A page whose items are JSON already: REST sends them unchanged, and callers that need objects parse them. */
export class WrittenPage<View> {
  constructor(
    private readonly written: readonly WrittenText[],
    readonly nextCursor: string | null,
    private readonly total: TotalView = {},
  ) {}

  get items(): View[] {
    // Items were serialized from views, so they parse as views.
    return this.written.map(({ bytes }) => JSON.parse(bytes.toString()) as View);
  }

  /** Differs for any difference of pages. Made from the items' own hashes: a page of volumes is 130 kB. */
  get hash(): string {
    return contentHash([...this.written.map(({ hash }) => hash), this.rest].join());
  }

  /**
   * The page as `JSON.stringify` would write it.
   * @param lend returns the buffer to write to
   */
  toBytes(lend: (lengthBytes: number) => Buffer): Buffer {
    const end = Buffer.from(`],${this.rest.slice(1)}`);
    const commas = Math.max(0, this.written.length - 1);
    const bytes = lend(
      this.written.reduce((sum, item) => sum + item.bytes.length, OPEN.length + commas + end.length),
    );
    let at = OPEN.copy(bytes);
    for (const [index, item] of this.written.entries()) {
      if (index > 0) at += COMMA.copy(bytes, at);
      at += item.bytes.copy(bytes, at);
    }
    end.copy(bytes, at);
    return bytes;
  }

  private get rest(): string {
    return JSON.stringify({ nextCursor: this.nextCursor, ...this.total });
  }

  toJSON() {
    return { items: this.items, nextCursor: this.nextCursor, ...this.total };
  }
}
