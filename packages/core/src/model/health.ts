/** Health of a process for its probes: `/livez`, `/readyz` and `/startupz`, which list their checks with `?verbose`. */

export type HealthCheck = {
  readonly name: string;
  /** `degraded`: not well, and no reason to send requests elsewhere. */
  readonly status: 'ok' | 'degraded' | 'failed';
  /** In words of ours: who asks may be a stranger, and errors name addresses and versions. */
  readonly detail?: string;
};

export function isHealthy(checks: readonly HealthCheck[]): boolean {
  return checks.every(({ status }) => status !== 'failed');
}

/** The problem, in one line. */
export function namesOfFailed(checks: readonly HealthCheck[]): string {
  return checks
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => name)
    .join(', ');
}

/** @param url of a request: `/readyz?verbose` */
export function asksVerbose(url: string): boolean {
  return new URL(url, 'http://localhost').searchParams.has('verbose');
}
