import { systemClock } from '@holdfast/database/clock-and-random.js';
import { pruneHistory } from '@holdfast/database/store/prune.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../http/databases.js';
import { LOGGER } from '../http/tokens.js';

/** Old rows are harmless for an hour, and several API processes may run this: the second finds nothing. */
const INTERVAL_MS = 3_600_000;

/** Deletes old history and expired tokens. */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.run(), INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async run(): Promise<void> {
    try {
      const pruned = await pruneHistory(this.databases.system(), systemClock.now());
      this.logger.info(pruned, 'old rows deleted');
    } catch (error) {
      this.logger.warn({ err: error }, 'old rows could not be deleted; the next run tries again');
    }
  }
}
