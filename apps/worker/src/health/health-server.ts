import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A probe that takes longer than this is answered with 503: the prober has given up by then. */
const CHECK_TIMEOUT_MS = 2_000;

export type HealthChecks = {
  /** Resolves when the worker can do its work now; rejects with the reason when it can't. */
  ready: () => Promise<void>;
};

/** `/livez`: the process runs. `/readyz`: it reaches what it needs. Nothing else is served. */
export class HealthServer {
  private readonly server = http.createServer((request, response) => {
    void this.answer(request.url ?? '').then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
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

  private async answer(url: string): Promise<{ status: number; body: object }> {
    if (url === '/livez') return { status: 200, body: { status: 'ok' } };
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

function within(work: Promise<void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
