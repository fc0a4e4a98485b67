import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { sealAll, sealOrganization } from '@holdfast/database/audit/seal.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../../http/databases.js';
import { LOGGER } from '../../http/tokens.js';

/** Short, so that an entry can be changed unseen for this long at most; the question whether there are any is one small query. */
const PAUSE_MS = 2_000;

/** Puts new audit entries into their chains, as long as this process works. Several processes take turns. */
@Injectable()
export class AuditSealing implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.start(), PAUSE_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Seals what the organization has written up to now. */
  async sealNow(organizationId: OrganizationId): Promise<void> {
    await sealOrganization(this.databases.system(), organizationId);
  }

  private start(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  private async run(): Promise<void> {
    try {
      await sealAll(this.databases.system());
      this.isFailing = false;
    } catch (error) {
      // Once is enough: an outage must not fill the log.
      if (!this.isFailing) this.logger.warn({ err: error }, 'the audit log could not be sealed');
      this.isFailing = true;
    }
  }
}
