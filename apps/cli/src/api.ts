import { createEndpointClient, type EndpointClient } from '@holdfast/api-client/client.js';
import type { Connection } from './connection.js';
import { CliError, EXIT } from './exit-codes.js';
import { refusal } from './refusal.js';
import { sender, unreachable } from './send.js';
import type { Page } from './types.js';

const PAGE_LIMIT = 200;
/** Most pages that are read of one list: 100,000 items, enough for any cluster. Bounds a cursor that never ends. */
const PAGES_MAX = 500;

/** Path of one volume in the API, below its cluster. */
export const VOLUME = '/clusters/{clusterId}/volumes/{volumeId}';

/** The typed client's result of a request, refused or not. */
export type Answer<T> = { data?: T; error?: unknown; response: Response };

export type PageQuery = { limit: number; cursor?: string };

/** The typed client for the connection. An API that can't be reached is reported as a CliError. */
export function createApi(
  { apiUrl, token }: Connection,
  send: (request: Request) => Promise<Response> = sender({ apiUrl }),
): EndpointClient {
  if (!URL.canParse(apiUrl)) throw unreachable(apiUrl, 'it is no URL');
  return createEndpointClient({ endpoint: apiUrl, token, fetch: send });
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

/** As `bodyOf`; undefined if it does not exist. */
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
