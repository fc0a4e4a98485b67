import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asksVerbose, type HealthCheck, isHealthy, namesOfFailed } from '@holdfast/core/model/health.js';
import { mayReadMetrics } from '@holdfast/core/model/metrics-access.js';

/** A probe that takes longer than this is answered with 503: the prober has given up by then. */
const CHECK_TIMEOUT_MS = 2_000;

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type HealthChecks = {
  /** The process's metrics as Prometheus reads them. */
  metrics: () => Promise<string>;
  /** Lets its holder read them; left out: callers on this machine. */
  metricsToken?: string | undefined;
  /** Dependencies of the worker, by name: available unless the check rejects or returns false. */
  checks: Readonly<Record<string, () => Promise<unknown>>>;
};

type Answer = { status: number; body: object | string };

/**
 * `/livez`: the process runs. `/readyz`: its dependencies are available. `/startupz`: they were available once. `/metrics`: for its
 * operator. Nothing else is served.
 */
export class HealthServer {
  private wasReady = false;
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
    const { url = '' } = request;
    switch (url.split('?')[0]) {
      case '/livez':
        return healthAnswer(url, [{ name: 'process', status: 'ok' }]);
      case '/readyz':
        return healthAnswer(url, await this.readyChecks());
      case '/startupz':
        return healthAnswer(
          url,
          this.wasReady ? [{ name: 'start', status: 'ok' }] : await this.readyChecks(),
        );
      case '/metrics':
        return this.answerMetrics(request);
      default:
        return { status: 404, body: { status: 'not found' } };
    }
  }

  private async readyChecks(): Promise<HealthCheck[]> {
    const asked = Object.entries(this.checks.checks).map(async ([name, ask]): Promise<HealthCheck> => {
      try {
        const isThere = (await within(ask(), CHECK_TIMEOUT_MS)) !== false;
        return { name, status: isThere ? 'ok' : 'failed' };
      } catch {
        return { name, status: 'failed', detail: 'no answer' };
      }
    });
    const checks = await Promise.all(asked);
    this.wasReady ||= isHealthy(checks);
    return checks;
  }
}

function healthAnswer(url: string, checks: readonly HealthCheck[]): Answer {
  const listed = asksVerbose(url) ? { checks } : {};
  if (isHealthy(checks)) return { status: 200, body: { status: 'ok', ...listed } };
  return { status: 503, body: { status: 'unavailable', reason: namesOfFailed(checks), ...listed } };
}

function isForwarded({ headers }: http.IncomingMessage): boolean {
  return headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
}

function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
