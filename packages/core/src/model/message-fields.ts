/** Fields of messages between processes. A value is checked, and gets its type, where its bytes come in. */
import { z } from 'zod';
import { type AnyId, asId } from './ids.js';

/** An id: any UUID on the wire, of the kind that the message's receiver expects once it is checked. */
export function idField<T extends AnyId>() {
  return z
    .string()
    .uuid()
    .transform((text) => asId<T>(text));
}

/** A time that is text on the wire, RFC 3339. What is no time becomes an invalid date: its reader decides. */
export const timeField = z
  .string()
  .max(64)
  .transform((text) => new Date(text));

export const uuidField = z.string().uuid();
export const bytesField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const counterField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
