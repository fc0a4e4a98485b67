/** Two ways by which a test reaches an API: within this process, and over HTTP in a process that suites share. */
import http from 'node:http';
import type { FastifyInstance } from 'fastify';
import { portOf } from './test-agent.js';

/** Characters that a request line cannot hold as they are. */
const UNSENDABLE = /[^\x21-\x7e]/gu;

export type ApiRequest = {
  method?: string;
  /** Path with query. */
  url: string;
  headers?: Record<string, string | undefined>;
  /** A text or bytes are sent as they are, anything else as JSON. */
  payload?: unknown;
};

export type ApiResponse = {
  statusCode: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: string;
};

export type ApiAccess = {
  send(request: ApiRequest): Promise<ApiResponse>;
  /** Port on 127.0.0.1 where the API listens for HTTP and TLS. */
  port(): Promise<number>;
};

/** An API in this process, which listens from the first call of `port` on. */
export function accessWithin(fastify: FastifyInstance, listen: () => Promise<unknown>): ApiAccess {
  let listening: Promise<unknown> | undefined;
  return {
    async send({ method = 'GET', url, headers = {}, payload }) {
      const {
        statusCode,
        headers: answered,
        body,
      } = await fastify.inject({
        // Fastify knows the methods by a union; tests name them as text.
        method: method as 'GET',
        url,
        headers,
        ...(payload === undefined ? {} : { payload: payload as string }),
      });
      return { statusCode, headers: answered, body };
    },
    async port() {
      listening ??= listen();
      await listening;
      return portOf(fastify.server.address());
    },
  };
}

/** An API that listens in another process. */
export function accessByHttp(port: number): ApiAccess {
  const agent = new http.Agent({ keepAlive: true });
  return {
    port: async () => port,
    send: ({ method = 'GET', url, headers = {}, payload }) =>
      new Promise((resolve, reject) => {
        const isRaw = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload);
        const bytes = Buffer.from(isRaw ? (payload ?? '') : JSON.stringify(payload));
        const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
        const request = http.request({
          host: '127.0.0.1',
          port,
          path: url.replaceAll(UNSENDABLE, encodeURIComponent),
          method,
          agent,
          headers: {
            ...(isRaw ? {} : { 'content-type': 'application/json' }),
            ...(payload === undefined ? {} : { 'content-length': bytes.length }),
            ...given,
          },
        });
        request.once('error', reject);
        request.once('response', async (response) => {
          let body = '';
          for await (const chunk of response.setEncoding('utf8')) body += chunk;
          resolve({ statusCode: response.statusCode ?? 0, headers: withSingles(response.headers), body });
        });
        request.end(bytes);
      }),
  };
}

/** Headers as Fastify's `inject` has them: one cookie is a text and not a list of one. */
function withSingles(headers: http.IncomingHttpHeaders): ApiResponse['headers'] {
  const cookies = headers['set-cookie'];
  return cookies?.length === 1 ? { ...headers, 'set-cookie': cookies[0] } : headers;
}
