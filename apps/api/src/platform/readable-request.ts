/**
 * Check of a request's text before any of it is used: what JSON, an address or a query may carry, and neither Postgres can
 * store nor a terminal show, is refused here in one place.
 */
import { type FaultItem, StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';
import { sendProblem } from './problem.filter.js';

/** Requests nest four deep, heartbeats seven. Code that walks a value by recursion meets no more than this. */
const DEPTH_MAX = 32;
/** Control characters but tab and line ends. Postgres refuses NUL, and a terminal obeys the others, U+009B as `ESC [`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

/** What ends a line or moves along it. A name that holds one can look like several rows of a table, of a log or of a mail. */
const LAYOUT = /[\t\n\r\u0085\u2028\u2029]/;

/** Marks that turn the order of the text after them: what is shown is then not what is stored, so that a name can look like another. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;

/** Half of a surrogate pair that stands alone. */
const HALF_CHARACTER = /\p{Cs}/u;

/**
 * A Fastify hook, after the body was parsed and before anything looks at it. Line breaks and tabs are refused as well, but in
 * agents' certificate requests and messages, and in the document of a GraphQL request, whose values `readableValues` checks.
 */
export async function requireReadable(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const wrong =
    wrongIn(request.params, '', ONE_LINE) ??
    wrongIn(request.query, '', mayHaveLines(request)) ??
    wrongIn(request.body, '/', mayHaveLines(request));
  if (wrong === undefined) return undefined;
  const { pointer, detail } = wrong;
  const fault = new StorageFault('request.invalid', {
    publicMessage: `${pointer === '' ? 'the body' : pointer} ${detail}`,
    errors: [wrong],
  });
  return sendProblem(fault, request, reply);
}

/**
 * What an agent sends that may have lines: a certificate request, and messages of its system, which are put into one line where
 * they are read (`agentText`). Names and paths are refused instead: put into one line, they would be those of another thing.
 */
const LINES_OF_AGENTS = /\/(?:request|message|reason|error)$/;

/** Tells by its pointer whether a text may have several lines. */
type MayHaveLines = (pointer: string) => boolean;
const ONE_LINE: MayHaveLines = () => false;

function mayHaveLines({ url }: FastifyRequest): MayHaveLines {
  if (url.startsWith('/api/v1/agent/')) return (pointer) => LINES_OF_AGENTS.test(pointer);
  // Beside the document stand the variables: as an object in a body, as JSON text in an address. A body may be a list of requests.
  return url.startsWith('/graphql') ? (pointer) => /^(\/?\d+)?\/?(query|variables)$/.test(pointer) : ONE_LINE;
}

/** A validation rule of GraphQL: the values in a document keep to what `requireReadable` demands of all others. */
export function readableValues(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node) {
      const detail = wrongText(node.value, false);
      if (detail === undefined) return;
      const publicMessage = `a text ${detail}`;
      const fault = new StorageFault('request.invalid', {
        publicMessage,
        errors: [{ pointer: '/query', detail }],
      });
      context.reportError(new GraphQLError(publicMessage, { nodes: [node], originalError: fault }));
    },
  };
}

/** The first text or level that can't be taken. Without recursion, which a deep value would exhaust. */
function wrongIn(root: unknown, separator: '' | '/', mayHaveLines: MayHaveLines): FaultItem | undefined {
  const open: { value: unknown; pointer: string; depth: number }[] = [{ value: root, pointer: '', depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === 'string') {
      const detail = wrongText(value, mayHaveLines(pointer));
      if (detail !== undefined) return { pointer, detail };
    }
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) continue;
    if (depth === DEPTH_MAX) return { pointer: '', detail: `is nested more than ${DEPTH_MAX} deep` };
    for (const [key, inner] of Object.entries(value)) {
      const detail = wrongText(key, false);
      if (detail !== undefined) return { pointer, detail: `has a field whose name ${detail}` };
      open.push({ value: inner, pointer: `${pointer}${separator}${key}`.slice(0, 256), depth: depth + 1 });
    }
  }
  return undefined;
}

function wrongText(text: string, mayHaveLines: boolean): string | undefined {
  if (HALF_CHARACTER.test(text)) return 'holds half of a surrogate pair, which is no character';
  if (REORDERING.test(text)) return 'must not hold marks that turn the order of its characters';
  if (CONTROL.test(text)) return 'must not hold control characters';
  return mayHaveLines || !LAYOUT.test(text) ? undefined : 'must not hold line breaks or tabs';
}
