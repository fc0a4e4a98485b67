/**
 * Check of a request's text before any of it is used: characters that JSON, an address or a query may carry, but that Postgres can not
 * store or a terminal must not show, are refused here in one place.
 */
import { type FaultItem, StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';
import { sendProblem } from './send-problem.js';

/** Requests nest four deep, heartbeats seven. Bounds the depth of recursive code. */
const DEPTH_MAX = 32;
/**
 * Values in one request. A heartbeat of ten thousand replicas has about two hundred thousand; a user's largest, a what-if that names the
 * nodes of a large cluster, has some ten thousand. A check may record a fault for each value, which costs far more than the bytes of
 * `[0,0,…]`.
 */
const VALUES_MAX = { ofAgents: 500_000, ofUsers: 50_000 };
/** A text without any of these is accepted after one scan, as nearly every text is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
const TO_LOOK_AT = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;
/** Control characters but tab and line ends. Postgres refuses NUL, and a terminal obeys the others, U+009B as `ESC [`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

/** Line breaks and tabs. A name with one can look like several rows of a table, a log or a mail. */
const LAYOUT = /[\t\n\r\u0085\u2028\u2029]/;

/** Bidirectional control characters: the text is shown in another order than stored, so that a name can look like another. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;

/** A lone half of a surrogate pair. */
const HALF_CHARACTER = /\p{Cs}/u;

/**
 * A Fastify hook, after the body was parsed and before anything looks at it. Line breaks and tabs are refused as well, except in agents'
 * certificate requests and messages, and in a GraphQL document, whose values `readableValues` checks.
 */
export async function requireReadable(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const valuesMax = isOfAgent(request) ? VALUES_MAX.ofAgents : VALUES_MAX.ofUsers;
  const rules = { mayHaveLines: mayHaveLines(request), valuesMax };
  const wrong =
    new Reading('', { mayHaveLines: ONE_LINE, valuesMax }).wrongIn(request.params) ??
    new Reading('', rules).wrongIn(request.query) ??
    new Reading('/', rules).wrongIn(request.body);
  if (wrong === undefined) return undefined;
  const { pointer, detail } = wrong;
  const fault = new StorageFault('request.invalid', {
    publicMessage: `${pointer === '' ? 'the body' : pointer} ${detail}`,
    errors: [wrong],
  });
  return sendProblem(fault, request, reply);
}

/**
 * Agents' texts that may have several lines: a certificate request, and messages of its system, which are put into one line where they are
 * read (`agentText`). Names and paths are refused instead: joined into one line, they would name another object.
 */
const LINES_OF_AGENTS = /\/(?:request|message|reason|error)$/;

/** Tells by its pointer whether a text may have several lines. */
type MayHaveLines = (pointer: string) => boolean;
const ONE_LINE: MayHaveLines = () => false;

function isOfAgent({ url }: FastifyRequest): boolean {
  return url.startsWith('/api/v1/agent/');
}

function mayHaveLines(request: FastifyRequest): MayHaveLines {
  const { url } = request;
  if (isOfAgent(request)) return (pointer) => LINES_OF_AGENTS.test(pointer);
  // Beside the document are the variables: as an object in a body, as JSON text in an address. A body may be a list of requests.
  return url.startsWith('/graphql') ? (pointer) => /^(\/?\d+)?\/?(query|variables)$/.test(pointer) : ONE_LINE;
}

/** A validation rule of GraphQL: the values in a document have to satisfy `requireReadable` too. */
export function readableValues(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node) {
      const detail = wrongText(node.value, () => false);
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

/** One walk through a request's values. */
class Reading {
  /** Path to the present value. Its text is made for a refusal only. */
  private readonly path: (string | number)[] = [];
  private values = 0;

  constructor(
    private readonly separator: '' | '/',
    private readonly rules: { readonly mayHaveLines: MayHaveLines; readonly valuesMax: number },
  ) {}

  /** The first refused text, name or level. Recursion is as deep as `DEPTH_MAX` at most. */
  wrongIn(value: unknown): FaultItem | undefined {
    this.values += 1;
    if (this.values > this.rules.valuesMax)
      return { pointer: '', detail: `has more than ${this.rules.valuesMax} values` };
    if (typeof value === 'string') return this.refused(wrongText(value, this.mayHaveLines));
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return undefined;
    if (this.path.length === DEPTH_MAX)
      return { pointer: '', detail: `is nested more than ${DEPTH_MAX} deep` };
    return Array.isArray(value) ? this.wrongInList(value) : this.wrongInObject(value);
  }

  private wrongInList(list: readonly unknown[]): FaultItem | undefined {
    for (let index = 0; index < list.length; index += 1) {
      const wrong = this.wrongBelow(index, list[index]);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  private wrongInObject(object: object): FaultItem | undefined {
    for (const [key, inner] of Object.entries(object)) {
      const detail = wrongText(key, () => false);
      if (detail !== undefined) return this.refused(`has a field whose name ${detail}`);
      const wrong = this.wrongBelow(key, inner);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  private wrongBelow(key: string | number, inner: unknown): FaultItem | undefined {
    this.path.push(key);
    const wrong = this.wrongIn(inner);
    this.path.pop();
    return wrong;
  }

  private refused(detail: string | undefined): FaultItem | undefined {
    return detail === undefined ? undefined : { pointer: this.pointer(), detail };
  }

  private readonly mayHaveLines = (): boolean => this.rules.mayHaveLines(this.pointer());

  private pointer(): string {
    return this.path
      .map((part) => `${this.separator}${part}`)
      .join('')
      .slice(0, 256);
  }
}

function wrongText(text: string, mayHaveLines: () => boolean): string | undefined {
  if (!TO_LOOK_AT.test(text)) return undefined;
  if (HALF_CHARACTER.test(text)) return 'holds half of a surrogate pair, which is no character';
  if (REORDERING.test(text)) return 'must not hold marks that turn the order of its characters';
  if (CONTROL.test(text)) return 'must not hold control characters';
  return !LAYOUT.test(text) || mayHaveLines() ? undefined : 'must not hold line breaks or tabs';
}
