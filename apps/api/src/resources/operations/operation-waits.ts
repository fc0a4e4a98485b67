/** Requests that wait for the end of an operation. They hold a connection of their caller and none of the database. */
import { setTimeout as delay } from 'node:timers/promises';
import { isEnded } from '@holdfast/core/policy/operation.js';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { LiveChanges } from '../events/live-changes.js';
import type { OperationView } from './operation.schemas.js';
import { readOperation } from './read-operation.js';

/** Per process. Each reads its operation about once per second if much changes: together no more than a busy console. */
const WAITING_MAX = 64;
/** Minimum pause between two reads: short at first, as many operations end soon. */
const PAUSE_MS = { first: 250, factor: 1.5, most: 1_000 };
/** Poll interval without notifications: some ends, such as deletions, cause none. */
const SILENCE_MS = 2_000;

@Injectable()
export class OperationWaits implements BeforeApplicationShutdown {
  private count = 0;
  private readonly ending = new AbortController();

  constructor(private readonly changes: LiveChanges) {}

  get waitingCount(): number {
    return this.count;
  }

  /**
   * Waits until the operation has ended, the time is over, the caller has disconnected or this process stops.
   *
   * @returns the operation at that time; `undefined`: too many requests wait already
   */
  async untilEnded(tenant: Tenant, operationId: string, waitMs: number): Promise<OperationView | undefined> {
    if (this.count >= WAITING_MAX) return undefined;
    this.count += 1;
    let told = new AbortController();
    const unsubscribe = this.changes.subscribe(tenant.actor.organizationId, () => told.abort());
    try {
      const over = AbortSignal.any([tenant.gone, this.ending.signal, AbortSignal.timeout(waitMs)]);
      let pauseMs = PAUSE_MS.first;
      for (;;) {
        // Before the read, so that a change during it is not missed.
        told = new AbortController();
        const { operation, view } = await readOperation(tenant, { operationId });
        if (isEnded(operation) || over.aborted) return view;
        await pause(pauseMs, over);
        await pause(SILENCE_MS, AbortSignal.any([over, told.signal]));
        pauseMs = Math.min(PAUSE_MS.most, pauseMs * PAUSE_MS.factor);
      }
    } finally {
      unsubscribe();
      this.count -= 1;
    }
  }

  /** Ends all waits: each request answers with the present state. */
  endAll(): void {
    this.ending.abort();
  }

  beforeApplicationShutdown(): void {
    this.endAll();
  }
}

/** Waits until the time is over or the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
