/** Fields of messages between processes. A value is checked, and gets its type, where its bytes come in. */
import { z } from 'zod';
import type { AnyId } from './ids.js';

/** An id: a UUID on the wire, of the kind that its reader expects. */
export function idField<T extends AnyId>(): z.ZodType<T, string> {
  // The cast: the kind of an id is known to the compiler only, so there is nothing to check but that it is a UUID.
  return z.string().uuid() as unknown as z.ZodType<T, string>;
}

/** The last millisecond of the year 9999: later times are shown in another form, which most programs can't read. */
const TIME_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A time that is text on the wire, RFC 3339. A text that is no time since 1970 becomes an invalid date: its reader decides. */
export const timeField = z
  .string()
  .max(64)
  .transform((text) => {
    const at = new Date(text);
    return at.getTime() >= 0 && at.getTime() <= TIME_MAX ? at : new Date(Number.NaN);
  });

export const uuidField = z.string().uuid();
export const bytesField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const counterField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Characters that a terminal obeys or a reader does not see: control and format characters, separators, halves of pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** Text of an agent for tenants: one line of printable characters, cut to so many. */
export function plainText(text: string, charsMax: number): string {
  const line = text.replace(UNPRINTABLE, ' ').trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1)}…`;
}

/** Characters that no name may contain: controls, ends of lines, halves of pairs, and marks that change the order of the text. */
const NO_NAME = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A field for a name in an agent's answer. Another one is refused and not changed: it would be the name of another thing. */
export function nameField(charsMax: number) {
  // As a refinement, lengths too: the released document of the API names no bounds of what agents send.
  return z
    .string()
    .refine((text) => text.length >= 1 && text.length <= charsMax, `must have 1 to ${charsMax} characters`)
    .refine((text) => !NO_NAME.test(text), 'must be one line of printable characters');
}

/** A field for such text. A longer one is cut, and no reason to refuse the message. */
export function agentText(charsMax: number) {
  return z.string().overwrite((text) => plainText(text, charsMax));
}
