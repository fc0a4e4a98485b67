import type { Connection } from './connection.js';
import { CliError, EXIT, exitCodeFor } from './exit-codes.js';
import type { Page, ProblemBody } from './types.js';

const REQUEST_TIMEOUT_MS = 90_000;
const PAGE_LIMIT = 200;
/** 100,000 items: enough for any cluster, and an end if a cursor never does. */
const PAGES_MAX = 500;

export type Query = Record<string, string | number | undefined>;

/** Calls the REST API and turns refusals into the CLI's own errors. */
export class Api {
  constructor(private readonly connection: Connection) {}

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#call<T>('GET', `${path}${queryString(query)}`);
  }

  post<T>(path: string, body: object = {}, headers: Record<string, string> = {}): Promise<T> {
    return this.#call<T>('POST', path, body, headers);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.#call<T>('PUT', path, body);
  }

  patch<T>(path: string, body: object): Promise<T> {
    return this.#call<T>('PATCH', path, body);
  }

  delete<T>(path: string): Promise<T> {
    return this.#call<T>('DELETE', path);
  }

  /** Every item of a list, page by page. */
  async list<T>(path: string, query: Query = {}): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const answer: Page<T> = await this.get(path, { limit: PAGE_LIMIT, ...query, cursor });
      items.push(...answer.items);
      if (answer.nextCursor === null) return items;
      cursor = answer.nextCursor;
    }
    return items;
  }

  async #call<T>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await this.#fetch(method, path, body, headers);
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw refusal(response.status, answer);
    // The API's answers have the shapes of its OpenAPI document, which the types here are taken from.
    return answer as T;
  }

  async #fetch(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Response> {
    const url = `${this.connection.apiUrl}${path}`;
    try {
      return await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${this.connection.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CliError(EXIT.unreachable, `${this.connection.apiUrl} does not answer: ${why}`, [
        'is the stack running? start it with `npm start`',
      ]);
    }
  }
}

function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function refusal(status: number, body: unknown): CliError {
  const problem: ProblemBody = typeof body === 'object' && body !== null ? body : {};
  const text = problem.detail ?? problem.title ?? `the API answered ${status}`;
  const details = (problem.errors ?? []).map((error) => `${error.pointer}: ${error.detail}`);
  const where = problem.requestId === undefined ? [] : [`request ${problem.requestId}`];
  return new CliError(exitCodeFor(status), text, [
    ...details,
    ...(problem.cures ?? []),
    ...(status >= 500 ? where : []),
  ]);
}
