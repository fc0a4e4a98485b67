/** The parts that many requests and answers share. */
import { type AnyId, asId } from '@holdfast/core/model/ids.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import { z } from 'zod';
import { dto } from './dto.js';

/** An id in an address or a body: any spelling of a UUID, read as the one that is stored. */
export function id<T extends AnyId>() {
  return z.uuid('must be an id').transform((text) => asId<T>(text.toLowerCase()));
}

export const uuid = z.uuid();
export const time = z.iso.datetime().describe('RFC 3339, UTC.');
export const bytes = z.int().min(0);

export const conditionSchema = z
  .object({
    type: z.string(),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.string(),
    message: z.string(),
    lastTransitionAt: time,
  })
  .meta({ id: 'Condition' });

/** What a schema describes, for data that is only shown. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export class ListQuery extends dto(
  z.strictObject({
    limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
    cursor: z.string().max(2_000).optional().describe('`nextCursor` of the page before.'),
    filter: z.string().max(1_000).optional().describe('`field=value AND field>value …`'),
    sort: z.string().max(100).optional().describe('A field name, with a minus in front for descending.'),
  }),
) {}

/** A page as REST shows it. */
export function pageView<From, To>(page: Page<From>, view: (item: From) => To) {
  return { items: page.items.map(view), nextCursor: page.nextCursor };
}

/** `{items, nextCursor}` of one kind of item. */
export function pageOf<Item extends z.ZodType>(item: Item, name: string) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() }).meta({ id: name });
}

export function isoOrNull(date: Date | undefined): string | null {
  return date?.toISOString() ?? null;
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
