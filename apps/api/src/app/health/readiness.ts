import { withTimeout } from '@holdfast/control/reconcilers/timeouts.js';
import { type HealthCheck, isHealthy } from '@holdfast/core/model/health.js';
import { isMigrated } from '@holdfast/database/migrate.js';
import { readOutboxLagSeconds } from '@holdfast/database/queries/cluster-figures.js';
import { queryUnscoped } from '@holdfast/database/sql/scope.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../../http/databases.js';
import { LOGGER } from '../../http/tokens.js';

/** Probes give up after seconds, and would then not learn which check failed. */
const CHECK_MS = 2_000;
/** A relay takes wake-ups within a second; the alert HoldfastOutboxLag has the same bound. */
const OUTBOX_LAG_SECONDS_MAX = 60;

const ANY_TABLE = 'SELECT FROM cluster LIMIT 0';

type Outcome = Omit<HealthCheck, 'name'>;
const OK: Outcome = { status: 'ok' };

/** Can this process answer requests? It needs both database roles, and the expected schema. */
@Injectable()
export class Readiness {
  private wasReady = false;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  async checks(): Promise<HealthCheck[]> {
    const { signIn } = this.databases;
    const system = this.databases.system();
    const checks = await Promise.all([
      this.check('database', () => queryUnscoped(signIn, ANY_TABLE, []).then(() => OK)),
      this.check('database-of-agents', () => queryUnscoped(system.pool, ANY_TABLE, []).then(() => OK)),
      this.check('migrations', async () =>
        (await isMigrated(system.pool)) ? OK : { status: 'failed', detail: 'some are not applied' },
      ),
      this.check('outbox', async () => outboxAt(await readOutboxLagSeconds(system)), 'degraded'),
    ]);
    this.wasReady ||= isHealthy(checks);
    return checks;
  }

  /** Once the process has been ready its start is over, even if the database fails later. */
  async startChecks(): Promise<HealthCheck[]> {
    return this.wasReady ? [{ name: 'start', status: 'ok' }] : this.checks();
  }

  private async check(
    name: string,
    ask: () => Promise<Outcome>,
    otherwise: HealthCheck['status'] = 'failed',
  ): Promise<HealthCheck> {
    try {
      const outcome = await withTimeout(CHECK_MS, ask());
      return { name, ...(outcome ?? { status: otherwise, detail: 'no answer in time' }) };
    } catch (error) {
      this.log.debug({ err: error, check: name }, 'a check of health failed');
      return { name, status: otherwise, detail: 'no answer' };
    }
  }
}

/** Degraded, not failed: all API processes see the same, and removing them all would cut off agents and users. */
function outboxAt(lagSeconds: number): Outcome {
  if (lagSeconds <= OUTBOX_LAG_SECONDS_MAX) return OK;
  return { status: 'degraded', detail: `a change has waited for a worker for ${Math.round(lagSeconds)} s` };
}
