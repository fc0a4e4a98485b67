import { randomBytes } from 'node:crypto';
import { Listener } from '@holdfast/database/sql/listener.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { CONFIG, LOGGER } from './tokens.js';

/**
 * Tells the other API processes that this one lives, by an advisory lock of Postgres that one connection holds: the kernel closes it
 * when the process dies, however it does. What this process had begun is then free to be begun by another one.
 */
@Injectable()
export class ProcessLife implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Of 62 bits by chance: two processes share a lock, and so hold each other's requests, with a chance of 2^-62. */
  private readonly lock = (randomBytes(8).readBigUInt64BE() >> 2n).toString();
  private holding: Listener | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** `undefined` while there is no connection: nothing is to be told dead that was begun meanwhile. */
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
