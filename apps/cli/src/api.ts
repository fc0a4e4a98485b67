import { createEndpointClient, type EndpointClient } from '@holdfast/api-client/client.js';
import type { Connection } from './connection.js';
import { CliError, EXIT, exitCodeFor } from './exit-codes.js';
import { fieldOf } from './json.js';
import type { Page } from './types.js';

const REQUEST_TIMEOUT_MS = 90_000;
const PAGE_LIMIT = 200;
/** Most pages that are read of one list: 100,000 items, enough for any cluster. Bounds a cursor that never ends. */
const PAGES_MAX = 500;

/** Path of one volume in the API, below its cluster. */
export const VOLUME = '/clusters/{clusterId}/volumes/{volumeId}';

/** The typed client's result of a request, refused or not. */
export type Answer<T> = { data?: T; error?: unknown; response: Response };

export type PageQuery = { limit: number; cursor?: string };

/** The typed client for the connection. An API that can't be reached is reported as a CliError. */
export function createApi({ apiUrl, token }: Connection): EndpointClient {
  if (!URL.canParse(apiUrl)) throw unreachable(apiUrl, 'it is no URL');
  return createEndpointClient({ endpoint: apiUrl, token, fetch: (request) => send(request, apiUrl) });
}

/**
 * The body of an answer.
 *
 * @throws CliError for a refusal, with the exit code of its status
 */
export async function bodyOf<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw refusal(response.status, error);
  if (data === undefined) throw new CliError(EXIT.unexpected, 'the API gave no answer');
  return data;
}

/** For a request whose answer has no body. @throws CliError for a refusal */
export async function doneOf(answer: Promise<Answer<unknown>>): Promise<void> {
  const { error, response } = await answer;
  if (!response.ok) throw refusal(response.status, error);
}

/** As `bodyOf`; undefined for what is not there. */
export async function bodyIfFound<T>(answer: Promise<Answer<T>>): Promise<T | undefined> {
  const { response } = await answer;
  return response.status === 404 ? undefined : bodyOf(answer);
}

/** All items of a list, read page by page. */
export async function itemsOf<T>(askPage: (query: PageQuery) => Promise<Answer<Page<T>>>): Promise<T[]> {
  const items: T[] = [];
  let query: PageQuery = { limit: PAGE_LIMIT };
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items: more, nextCursor } = await bodyOf(askPage(query));
    items.push(...more);
    if (nextCursor === null) return items;
    query = { limit: PAGE_LIMIT, cursor: nextCursor };
  }
  return items;
}

async function send(request: Request, apiUrl: string): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unreachable(apiUrl, why);
  }
}

function unreachable(apiUrl: string, why: string): CliError {
  return new CliError(EXIT.unreachable, `${apiUrl} does not answer: ${why}`, [
    'is the stack running? start it with `npm start`',
  ]);
}

/**
 * The error for a refused request. A proxy may have answered in its own format, so no field of a problem document is
 * taken for granted.
 */
function refusal(status: number, body: unknown): CliError {
  const text = textAt(body, 'detail') ?? textAt(body, 'title') ?? `the API answered ${status}`;
  const details = listAt(body, 'errors').map(
    (error) => `${textAt(error, 'pointer') ?? ''}: ${textAt(error, 'detail') ?? ''}`,
  );
  const cures = listAt(body, 'cures').filter((cure) => typeof cure === 'string');
  const requestId = textAt(body, 'requestId');
  const where = status < 500 || requestId === undefined ? [] : [`request ${requestId}`];
  return new CliError(exitCodeFor(status), text, [...details, ...cures, ...where]);
}

function textAt(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key);
  return typeof found === 'string' ? found : undefined;
}

function listAt(value: unknown, key: string): unknown[] {
  const found = fieldOf(value, key);
  return Array.isArray(found) ? found : [];
}
