/**
 * Check of a request's text before any of it is used: what JSON, an address or a query may carry, and neither Postgres can
 * store nor a terminal show, is refused here in one place.
 */
import { type FaultItem, StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.filter.js';

/** Requests nest four deep, heartbeats seven. Code that walks a value by recursion meets no more than this. */
const DEPTH_MAX = 32;
/** Control characters but tab and line ends. Postgres refuses NUL, and a terminal obeys the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Marks that turn the order of the text after them: what is shown is then not what is stored, so that a name can look like another. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;

/** Half of a surrogate pair that stands alone. */
const HALF_CHARACTER = /\p{Cs}/u;

/** A Fastify hook, after the body was parsed and before anything looks at it. */
export async function requireReadable(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const wrong = wrongIn(request.params, '') ?? wrongIn(request.query, '') ?? wrongIn(request.body, '/');
  if (wrong === undefined) return undefined;
  const { pointer, detail } = wrong;
  const fault = new StorageFault('request.invalid', {
    publicMessage: `${pointer === '' ? 'the body' : pointer} ${detail}`,
    errors: [wrong],
  });
  return sendProblem(fault, request, reply);
}

/** The first text or level that can't be taken. Without recursion, which a deep value would exhaust. */
function wrongIn(root: unknown, separator: '' | '/'): FaultItem | undefined {
  const open: { value: unknown; pointer: string; depth: number }[] = [{ value: root, pointer: '', depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === 'string') {
      const detail = wrongText(value);
      if (detail !== undefined) return { pointer, detail };
    }
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) continue;
    if (depth === DEPTH_MAX) return { pointer: '', detail: `is nested more than ${DEPTH_MAX} deep` };
    for (const [key, inner] of Object.entries(value)) {
      const detail = wrongText(key);
      if (detail !== undefined) return { pointer, detail: `has a field whose name ${detail}` };
      open.push({ value: inner, pointer: `${pointer}${separator}${key}`.slice(0, 256), depth: depth + 1 });
    }
  }
  return undefined;
}

function wrongText(text: string): string | undefined {
  if (HALF_CHARACTER.test(text)) return 'holds half of a surrogate pair, which is no character';
  if (REORDERING.test(text)) return 'must not hold marks that turn the order of its characters';
  return CONTROL.test(text) ? 'must not hold control characters' : undefined;
}
