/** Schemas of the parts that many requests and answers share. */
import { type AnyId, asId } from '@holdfast/core/model/ids.js';
import { COUNTED_MAX, type Page } from '@holdfast/database/queries/list-rows.js';
import { z } from 'zod';
import { dto } from './dto.js';
import type { WrittenText } from './stamped-memo.js';
import { type TotalView, WrittenPage } from './written-page.js';

/** An id in an address or a body: any spelling of a UUID, normalized to the stored one. */
export function id<T extends AnyId>() {
  return z.uuid('must be an id').transform((text) => asId<T>(text.toLowerCase()));
}

export const uuid = z.uuid();
export const time = z.iso.datetime().describe('RFC 3339, UTC.');
export const bytes = z.int().min(0).describe('Bytes.');

/** The number that an ETag quotes. */
export const version = z
  .int()
  .describe('Grows with each change of the object; quoted, it is the ETag for `If-Match`.');

export const conditionSchema = z
  .object({
    type: z.string().describe('Type of the condition, such as `Ready` or `Scheduled`; unique in the object.'),
    status: z
      .enum(['True', 'False', 'Unknown'])
      .describe('Whether the condition holds; `Unknown` while that can not be determined.'),
    reason: z.string().describe('Stable code of the cause, for programs; empty: none.'),
    message: z.string().describe('The cause for people, with names and numbers; may be empty.'),
    lastTransitionAt: time.describe('Time of the last change of `status`.'),
  })
  .meta({ id: 'Condition' });

/** Read-only form of a schema's type, for data that is only shown. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export class ListQuery extends dto(
  z.strictObject({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(PAGE_LIMIT_MAX)
      .default(PAGE_LIMIT_DEFAULT)
      .describe('Maximum number of items in a page.'),
    cursor: z
      .string()
      .max(2_000)
      .optional()
      .describe(
        '`nextCursor` of the previous page, with the same `filter` and `sort`; left out: the first page.',
      ),
    filter: z
      .string()
      .max(1_000)
      .optional()
      .describe(
        '`field=value AND (field>value OR field in (a, b))`; `name=pg-*` matches a prefix; texts with spaces in double quotes, sizes with Ki, Mi, Gi or Ti.',
      ),
    sort: z
      .string()
      .max(100)
      .optional()
      .describe(
        'Up to three field names, separated by commas, each with a leading minus for descending order.',
      ),
    total: z
      .enum(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true')
      .describe(
        'True: the answer has the number of all items. It costs a second statement: request it once.',
      ),
  }),
) {}

/**
 * Cursors of the items of a page: an edge of GraphQL has one, an item in REST has none. On the page under a symbol, which JSON leaves out.
 * A WeakMap's values survive V8's minor collections, and a page references all of its rows.
 */
const CURSORS = Symbol('cursors');

/** A page as REST shows it. */
export function pageView<From, To>(page: Page<From>, view: (item: From) => To) {
  const shown = { items: page.items.map(view), nextCursor: page.nextCursor, ...totalView(page) };
  return Object.defineProperty(shown, CURSORS, { value: page.cursors });
}

/** A page of items that are JSON already, as REST shows it. */
export function writtenPage<View>(page: Page<WrittenText>): WrittenPage<View> {
  const shown = new WrittenPage<View>(page.items, page.nextCursor, totalView(page));
  return Object.defineProperty(shown, CURSORS, { value: page.cursors });
}

function totalView({ total }: Page<unknown>): TotalView {
  return total === undefined ? {} : { total: total.count, totalIsAtLeast: total.isAtLeast };
}

/** The cursor of each item of a page that `pageView` or `writtenPage` has made. */
export function cursorsOf(page: object): string[] {
  // The cast: only the functions above set it.
  return (page as { readonly [CURSORS]?: Page<unknown>['cursors'] })[CURSORS]?.() ?? [];
}

/** `{items, nextCursor}` of one kind of item, with the total if requested. */
export function pageOf<Item extends z.ZodType>(item: Item, name: string) {
  return z
    .object({
      items: z.array(item).describe('The items of this page, in the order of `sort`.'),
      nextCursor: z
        .string()
        .nullable()
        .describe('Opaque; pass it as `cursor` to get the next page. Null on the last page.'),
      total: z
        .number()
        .int()
        .optional()
        .describe('Number of items that match `filter` and that the caller may see; only with `total=true`.'),
      totalIsAtLeast: z
        .boolean()
        .optional()
        .describe(`True: more than \`total\` items exist; at most ${COUNTED_MAX} are counted.`),
    })
    .meta({ id: name });
}

export function isoOrNull(time: Date | string | undefined): string | null {
  return time === undefined ? null : isoOf(time);
}

/** @param time a text is already in this format, from the database */
export function isoOf(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}

export function conditionView(condition: {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionAt: Date;
}): z.infer<typeof conditionSchema> {
  return { ...condition, lastTransitionAt: condition.lastTransitionAt.toISOString() };
}

/** For actions without parameters: an empty object, or no body at all. */
export class NoBody extends dto(z.strictObject({})) {}
