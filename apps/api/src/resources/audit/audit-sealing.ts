import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { sealAll, sealOrganization } from '@holdfast/database/audit/seal.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../../http/databases.js';
import { LOGGER } from '../../http/tokens.js';

/** Short, since an unsealed entry could be changed unseen; checking for new entries is one small query. */
const PAUSE_MS = 2_000;

/** Adds new audit entries to their hash chains, while this process works. Several processes take turns. */
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

  /** Seals the organization's entries up to now. */
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
