import { LISTENING_INTERVAL_MS, noteListening } from '@holdfast/database/store/listening.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../http/databases.js';
import { LOGGER } from '../http/tokens.js';

/**
 * Records in the database, while this process works, that agents can be heard. Otherwise an outage of the API or of Postgres would look
 * like silence of the agents.
 */
@Injectable()
export class Listening implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private noting: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.note();
    this.timer = setInterval(() => this.note(), LISTENING_INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.noting;
  }

  /** One at a time: requests must not pile up on a database that does not answer. */
  private note(): void {
    this.noting ??= noteListening(this.databases.agents())
      .then(
        () => {
          this.isFailing = false;
        },
        (error: unknown) => {
          // Once is enough: an outage must not fill the log.
          if (!this.isFailing) this.logger.warn({ err: error }, 'the database does not take heartbeats now');
          this.isFailing = true;
        },
      )
      .finally(() => {
        this.noting = undefined;
      });
  }
}
