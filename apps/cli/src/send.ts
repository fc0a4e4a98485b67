/** Sends the CLI's requests: keys for repeats, dry runs, and requests that are printed instead of made. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from '@holdfast/api-client/client.js';
import { curlText } from './curl.js';
import { CliError, EXIT } from './exit-codes.js';
import { refusal } from './refusal.js';

/** Longer than the API takes for a read whose database is slow; and than it waits for a verification or a what-if, 60 s. */
const ANSWER_MS_MAX = { read: 20_000, other: 75_000 };
/** Pauses before a request is sent again whose answer was lost, or that was refused for the moment without a word on when to try again. */
const RETRY_PAUSES_MS = [150, 450];
/**
 * No request is repeated that took as long, or whose answer demands a longer pause: the server has waited already for what is
 * missing, such as a database that does not answer, and would only wait once more.
 */
const PASSING_MS_MAX = 5_000;
const PASSING_STATUSES = new Set([502, 503, 504]);
/** Refusals of a dry run that say: as things are, it can't be done. */
const NOT_SATISFIED = new Set([409, 412, 429]);
const DRY_RUN_TYPE = 'dry-run+json';

export type SendOptions = {
  readonly apiUrl: string;
  /** Changes are tried only. */
  readonly isDryRun?: boolean;
  /** Requests are printed as curl commands, and changes not made. */
  readonly isCurl?: boolean;
  /** Of the first POST; others, and left out: fresh ones. */
  readonly idempotencyKey?: string | undefined;
  /** Receives the output instead of the command's own. */
  readonly show?: (text: string) => void;
  readonly showPlan?: (plan: Schema<'DryRun'>) => void;
  readonly fetch?: (request: Request) => Promise<Response>;
};

/** The command has shown what was requested instead of making a change: no failure. */
export class Shown extends Error {
  override readonly name = 'Shown';
}

/** @throws Shown when a change was printed or planned instead */
export function sender(options: SendOptions): (request: Request) => Promise<Response> {
  const { isDryRun = false, isCurl = false, show, showPlan } = options;
  let nextKey = options.idempotencyKey;
  return async (given) => {
    const isChange = given.method !== 'GET';
    const request = isDryRun && isChange ? dry(given) : given;
    if (request.method === 'POST' && !isDryRun) {
      request.headers.set('idempotency-key', nextKey ?? randomUUID());
      nextKey = undefined;
    }
    if (isCurl) {
      show?.(await curlText(request.clone()));
      if (isChange) throw new Shown();
    }
    const answer = await sendAgain(request, options);
    if (isDryRun && isChange && NOT_SATISFIED.has(answer.status))
      throw refusal(answer.status, await answer.json(), EXIT.unsatisfied);
    if (!isDryRun || !isChange || answer.headers.get('content-type')?.includes(DRY_RUN_TYPE) !== true)
      return answer;
    // The API's answer of this type is this schema.
    showPlan?.((await answer.json()) as Schema<'DryRun'>);
    throw new Shown();
  };
}

function dry(request: Request): Request {
  const url = new URL(request.url);
  url.searchParams.set('dryRun', 'true');
  return new Request(url, request);
}

/** A read, and a POST with its key, may be sent again: the API does it once. */
async function sendAgain(request: Request, options: SendOptions): Promise<Response> {
  const mayRepeat = request.method === 'GET' || request.headers.has('idempotency-key');
  const pauses = mayRepeat ? RETRY_PAUSES_MS : [];
  for (let attempt = 0; ; attempt += 1) {
    const sentAt = performance.now();
    const outcome = await (options.fetch ?? fetchOnce)(request.clone()).catch((error: unknown) =>
      unreachable(options.apiUrl, reasonOf(error, request)),
    );
    const pauseMs = pauseAfter(outcome, performance.now() - sentAt, pauses[attempt]);
    if (pauseMs !== undefined) await sleep(pauseMs);
    else if (outcome instanceof Response) return outcome;
    else throw outcome;
  }
}

/** @returns undefined where it is not to be sent again */
export function pauseAfter(
  outcome: Response | CliError,
  tookMs: number,
  pauseMs: number | undefined,
): number | undefined {
  const isFinal = outcome instanceof Response && !PASSING_STATUSES.has(outcome.status);
  if (isFinal || pauseMs === undefined || tookMs >= PASSING_MS_MAX) return undefined;
  const askedMs = outcome instanceof Response ? 1_000 * Number(outcome.headers.get('retry-after')) : 0;
  // A date, which the header may also be, is no number.
  const wantedMs = Number.isNaN(askedMs) ? pauseMs : Math.max(askedMs, pauseMs);
  return wantedMs <= PASSING_MS_MAX ? wantedMs : undefined;
}

async function fetchOnce(request: Request): Promise<Response> {
  const { sendOnce } = await import('./http-send.js');
  return sendOnce(request, answerMsMax(request));
}

function answerMsMax({ method }: Request): number {
  return method === 'GET' ? ANSWER_MS_MAX.read : ANSWER_MS_MAX.other;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: "the host's name could not be looked up",
  ECONNRESET: 'the connection was cut',
};

/** Why a request had no answer, in plain words where the cause is a known one. */
export function reasonOf(error: unknown, request: Request): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${answerMsMax(request) / 1_000} s`;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  // Of several addresses of one name, each has its own error.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  return REASONS[code] ?? cause.message;
}

export function unreachable(apiUrl: string, why: string): CliError {
  return new CliError(EXIT.unreachable, `${apiUrl} does not answer: ${why}`, [
    'is the stack running? start it with `npm start`',
  ]);
}
