/** Runtime of the capacity's history: samples each cluster once a step. Between two samples it reads one row for a cluster. */
import { sampleCapacity } from '@holdfast/database/capacity/sample-capacity.js';
import type { Scope } from '@holdfast/database/sql/scope.js';
import type { Logger } from 'pino';
import { Repeat } from '../runtime/repeat.js';

/** Short beside a step of five minutes, so that samples are about that far apart. */
const PAUSE_MS = 20_000;

export function capacityRuntime(system: Scope, log: Logger): Repeat {
  const sample = () =>
    sampleCapacity(system, new Date(), (error, clusterId) =>
      log.warn({ err: error, clusterId }, "a cluster's capacity could not be sampled"),
    );
  return new Repeat(sample, PAUSE_MS, (error) => log.warn({ err: error }, 'capacity could not be sampled'));
}
