/**
 * Keys of requests that ended because the database did not answer: each stays locked as if its request still ran. They are unlocked as soon
 * as the database answers again, so that a repeat need not wait for the lock's expiry.
 *
 * A process that dies forgets them; its locks end with it.
 */
import { type IdempotentRequest, lockEndsAt, unlockKey } from '@holdfast/database/queries/idempotency.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Databases } from '../http/databases.js';

const INTERVAL_MS = 1_000;
/** Further ones wait for the expiry of their locks. */
const KEYS_MAX = 10_000;

@Injectable()
export class UnansweredKeys implements OnApplicationShutdown {
  private readonly locked = new Set<IdempotentRequest>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly databases: Databases) {}

  add(request: IdempotentRequest): void {
    if (this.locked.size >= KEYS_MAX) return;
    this.locked.add(request);
    this.timer ??= setInterval(() => this.start(), INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One at a time: requests must not pile up on a database that does not answer. */
  private start(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  private async run(): Promise<void> {
    for (const request of this.locked) {
      const isOver = lockEndsAt(request).getTime() < Date.now();
      if (!isOver && !(await this.unlock(request))) return;
      this.locked.delete(request);
    }
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** @returns false: the database is still unreachable */
  private async unlock(request: IdempotentRequest): Promise<boolean> {
    const scope = this.databases.organization(request.organizationId);
    return transaction(scope, (sql) => unlockKey(sql, request)).then(
      () => true,
      () => false,
    );
  }
}
