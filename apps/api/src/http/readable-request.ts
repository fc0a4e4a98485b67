/**
 * Check of a request's text before any of it is used: what JSON, an address or a query may carry, and neither Postgres can
 * store nor a terminal show, is refused here in one place.
 */
import { type FaultItem, StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';
import { sendProblem } from './send-problem.js';

/** Requests nest four deep, heartbeats seven. Code that walks a value by recursion meets no more than this. */
const DEPTH_MAX = 32;
/**
 * Values in one request. A heartbeat of ten thousand replicas has about two hundred thousand; a user's largest, a what-if
 * that names the nodes of a large cluster, has some ten thousand. What checks a value may note a fault of each, which costs far more than the bytes of `[0,0,…]`.
 */
const VALUES_MAX = { ofAgents: 500_000, ofUsers: 50_000 };
/** A text without any of these has nothing to be refused for: nearly every one, so that it is looked through once. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
const TO_LOOK_AT = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;
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
 * What an agent sends that may have lines: a certificate request, and messages of its system, which are put into one line where
 * they are read (`agentText`). Names and paths are refused instead: put into one line, they would be those of another thing.
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
  // Beside the document stand the variables: as an object in a body, as JSON text in an address. A body may be a list of requests.
  return url.startsWith('/graphql') ? (pointer) => /^(\/?\d+)?\/?(query|variables)$/.test(pointer) : ONE_LINE;
}

/** A validation rule of GraphQL: the values in a document keep to what `requireReadable` demands of all others. */
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

/** One walk through what a request carries. */
class Reading {
  /** Names and numbers of the levels down to the value that is looked at. Their text is made for a refusal only. */
  private readonly path: (string | number)[] = [];
  private values = 0;

  constructor(
    private readonly separator: '' | '/',
    private readonly rules: { readonly mayHaveLines: MayHaveLines; readonly valuesMax: number },
  ) {}

  /** The first text, name or level that can't be taken. Recursion is as deep as `DEPTH_MAX` at most. */
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
