import { randomBytes } from 'node:crypto';
import { Listener } from '@holdfast/database/sql/listener.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { CONFIG, LOGGER } from './tokens.js';

/**
 * Shows the other API processes that this one is alive, by an advisory lock of Postgres on a connection that the kernel closes when the
 * process dies. Another process may then take over its unfinished requests.
 */
@Injectable()
export class ProcessLife implements OnApplicationBootstrap, OnApplicationShutdown {
  /** 62 random bits: two processes share a lock, and so block each other's requests, with a chance of 2^-62. */
  private readonly lock = (randomBytes(8).readBigUInt64BE() >> 2n).toString();
  private holding: Listener | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** `undefined` while there is no connection: requests started meanwhile must not count as those of a dead process. */
  get holder(): string | undefined {
    return this.holding?.isConnected === true ? this.lock : undefined;
  }

  onApplicationBootstrap(): void {
    this.holding = new Listener({
      url: this.config.databaseUrl,
      applicationName: 'holdfast-api-life',
      channels: [],
      lock: this.lock,
      onNotification: () => undefined,
      onConnected: () => undefined,
      onTrouble: (error) =>
        this.logger.warn({ err: error }, 'the connection that tells of this process failed'),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.holding?.stop();
  }
}
