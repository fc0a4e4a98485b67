/** Fields of messages between processes. A value is checked, and gets its type, where its bytes come in. */
import { z } from 'zod';
import type { AnyId } from './ids.js';

/** An id: a UUID on the wire, of the kind that its reader expects. */
export function idField<T extends AnyId>(): z.ZodType<T, string> {
  // The cast: the kind of an id is known to the compiler only, so there is nothing to check but that it is a UUID.
  return z.string().uuid() as unknown as z.ZodType<T, string>;
}

/** A time that is text on the wire, RFC 3339. What is no time becomes an invalid date: its reader decides. */
export const timeField = z
  .string()
  .max(64)
  .transform((text) => new Date(text));

export const uuidField = z.string().uuid();
export const bytesField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const counterField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
