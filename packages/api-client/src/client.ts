import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './generated/schema.js';

/** A named schema of the API: `Schema<'Volume'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type ApiClient = Client<paths>;

export type ClientOptions = {
  /** Where the API is, without `/api/v1`; empty for the page's own origin. */
  origin: string;
  /** Left out where a cookie says who one is. */
  token?: string;
};

/** A client whose paths, parameters and answers are those of the checked-in OpenAPI document. */
export function createClient({ origin, token }: ClientOptions): ApiClient {
  return createFetchClient<paths>({
    baseUrl: origin,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

/** A refusal, as every route gives it. */
export type Problem = Schema<'Problem'>;

export function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'status' in body && 'detail' in body;
}
