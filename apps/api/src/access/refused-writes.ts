/**
 * Refused writes and sign-ins in the audit log. They have no transaction of their own: they are collected and written every second, up to a
 * limit per organization, with the number of the others.
 *
 * A crash loses those of the last second; the request log has them too.
 */
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { type AuditEntry, insertAuditEntries } from '@holdfast/database/queries/audit.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Databases } from '../http/databases.js';
import { LOGGER } from '../http/tokens.js';

const INTERVAL_MS = 1_000;
/** More refusals in a second are repetitions. */
const OF_ORGANIZATION_MAX = 50;

type OrganizationId = AuditEntry['organizationId'];
type Refused = { readonly entries: AuditEntry[]; others: number };

@Injectable()
export class RefusedWrites implements OnApplicationBootstrap, OnApplicationShutdown {
  private collected = new Map<OrganizationId, Refused>();
  private timer: NodeJS.Timeout | undefined;
  private written: Promise<void> = Promise.resolve();
  private isWriting = false;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      // A slow database would otherwise gather a queue of empty writes.
      if (!this.isWriting) void this.flush();
    }, INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  note(entry: AuditEntry & { reason: string }): void {
    const refused = this.collected.get(entry.organizationId) ?? { entries: [], others: 0 };
    this.collected.set(entry.organizationId, refused);
    if (refused.entries.length < OF_ORGANIZATION_MAX) refused.entries.push(entry);
    else refused.others += 1;
  }

  /** Resolves when all refusals noted before are written, those of a write under way too: a process that ends must not lose them. */
  flush(): Promise<void> {
    this.written = this.written.then(async () => {
      this.isWriting = true;
      await this.writeCollected();
      this.isWriting = false;
    });
    return this.written;
  }

  /** Never rejects. */
  private async writeCollected(): Promise<void> {
    const { collected } = this;
    this.collected = new Map();
    for (const [organizationId, refused] of collected) {
      try {
        await transaction(this.databases.organization(organizationId), (sql) =>
          insertAuditEntries(sql, listed(refused)),
        );
      } catch (error) {
        this.logger.warn(
          { err: error, organizationId },
          'refused writes could not be put into the audit log',
        );
      }
    }
  }
}

function listed({ entries, others }: Refused): AuditEntry[] {
  const [first] = entries;
  if (first === undefined || others === 0) return entries;
  const { organizationId } = first;
  const target = { kind: 'organization', id: organizationId };
  const summary = {
    action: 'further refusals',
    target,
    address: '',
    traceId: '',
    requestId: '',
    detail: { others },
    at: systemClock.now(),
  };
  const actor = { kind: 'system', id: 'api' };
  return [...entries, { organizationId, actor, ...summary, reason: 'request.rate_limited' }];
}
