import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './generated/schema.js';

/** A named schema of the API: `Schema<'Volume'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type ApiClient = Client<paths>;

export type ClientOptions = {
  /** Origin of the API, without `/api/v1`; empty for the page's own. */
  origin: string;
  /** The user's token. Left out where a cookie identifies the user. */
  token?: string;
  /** Sends one request; left out: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
};

/** A typed client: its paths, parameters and answers are those of the checked-in OpenAPI document. */
export function createClient({ origin, token, ...options }: ClientOptions): ApiClient {
  return createFetchClient<paths>({ baseUrl: origin, headers: bearer(token), ...options });
}

/** The document's paths without the `/api/v1` that each begins with. */
type EndpointPaths = {
  [Path in keyof paths as Path extends `/api/v1${infer Rest}` ? Rest : never]: paths[Path];
};

export type EndpointClient = Client<EndpointPaths>;

export type EndpointOptions = {
  /** Base URL of the API, such as `http://host:7400/api/v1`; a proxy may have it under another path. */
  endpoint: string;
  token: string;
  /** Sends one request; left out: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
};

/** As `createClient`, for a caller that knows the API by its base URL: paths are relative to `/api/v1`. */
export function createEndpointClient({ endpoint, token, ...options }: EndpointOptions): EndpointClient {
  return createFetchClient<EndpointPaths>({ baseUrl: endpoint, headers: bearer(token), ...options });
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Request body of an operation: `Body<'/api/v1/clusters/{clusterId}/volumes', 'post'>`. */
export type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Json } };
}
  ? Json
  : never;

/** Body of a refusal, the same for every route. */
export type Problem = Schema<'Problem'>;

export function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'status' in body && 'detail' in body;
}
