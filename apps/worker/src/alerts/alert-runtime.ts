/** Runtime of alerts: evaluates those of all clusters, every few seconds. Nothing is remembered between two evaluations. */
import { evaluateAlerts } from '@holdfast/database/alerts/evaluate-alerts.js';
import type { Scope } from '@holdfast/database/sql/scope.js';
import type { Logger } from 'pino';
import { Repeat } from '../runtime/repeat.js';

/** Short beside the minute after which the first rule fires. */
const PAUSE_MS = 10_000;

export function alertRuntime(system: Scope, log: Logger): Repeat {
  const evaluate = () =>
    evaluateAlerts(system, new Date(), (error, clusterId) =>
      log.warn({ err: error, clusterId }, 'the alerts of a cluster could not be evaluated'),
    );
  return new Repeat(evaluate, PAUSE_MS, (error) => log.warn({ err: error }, 'alerts could not be evaluated'));
}
