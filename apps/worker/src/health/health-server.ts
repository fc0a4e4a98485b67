import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { mayReadMetrics } from '@holdfast/core/model/metrics-access.js';

/** A probe that takes longer than this is answered with 503: the prober has given up by then. */
const CHECK_TIMEOUT_MS = 2_000;

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type HealthChecks = {
  /** The process's metrics as Prometheus reads them. */
  metrics: () => Promise<string>;
  /** Lets its holder read them; left out: callers on this machine. */
  metricsToken?: string | undefined;
  /** Resolves when the worker can do its work now; rejects with the reason when it can't. */
  ready: () => Promise<void>;
};

type Answer = { status: number; body: object | string };

/** `/livez`: the process runs. `/readyz`: it reaches what it needs. `/metrics`: for its operator. Nothing else is served. */
export class HealthServer {
  private readonly server = http.createServer((request, response) => {
    void this.answer(request).then(({ status, body }) => {
      const isText = typeof body === 'string';
      response
        .writeHead(status, { 'content-type': isText ? METRICS_TYPE : 'application/json' })
        .end(isText ? body : JSON.stringify(body));
    });
  });

  constructor(private readonly checks: HealthChecks) {}

  /** Returns the port, which differs from the wanted one when that is 0. */
  start(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        // A server that listens on TCP has an address of this kind.
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answerMetrics(request: http.IncomingMessage): Promise<Answer> {
    const { metrics, metricsToken } = this.checks;
    const { authorization } = request.headers;
    const scraper = {
      address: request.socket.remoteAddress,
      isForwarded: isForwarded(request),
      authorization,
    };
    if (!mayReadMetrics(scraper, metricsToken)) return { status: 403, body: { status: 'forbidden' } };
    return { status: 200, body: await metrics() };
  }

  private async answer(request: http.IncomingMessage): Promise<Answer> {
    const { url } = request;
    if (url === '/livez') return { status: 200, body: { status: 'ok' } };
    if (url === '/metrics') return this.answerMetrics(request);
    if (url !== '/readyz') return { status: 404, body: { status: 'not found' } };
    try {
      await within(this.checks.ready(), CHECK_TIMEOUT_MS);
      return { status: 200, body: { status: 'ok' } };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { status: 503, body: { status: 'unavailable', reason } };
    }
  }
}

function isForwarded({ headers }: http.IncomingMessage): boolean {
  return headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
}

function within(work: Promise<void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
