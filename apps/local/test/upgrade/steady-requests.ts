/**
 * Users of the API that go on through everything: they make volumes and delete them, and repeat what got no good answer under the
 * same key. Each volume is a job for the workers too, which has to be done in the end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { ComposedStack, Volume } from '../compose/composed-stack.js';

const PAUSE_MS = 500;
/** Volumes that are there at once: the oldest goes when one more is made. */
const KEPT = 5;
/** A request without a good answer for so long is lost. */
const UNANSWERED_MS_MAX = 60_000;
const DONE_MS_MAX = 120_000;

export class SteadyRequests {
  private readonly kept: string[] = [];
  private readonly deleted: string[] = [];
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();
  answered = 0;
  repeated = 0;
  /** The longest that a request has waited for a good answer, repeats included, in milliseconds. */
  longestMs = 0;

  constructor(private readonly stack: ComposedStack) {}

  start(): void {
    this.running = this.run();
    // It is awaited when the users are stopped.
    this.running.catch(() => undefined);
  }

  /** Waits until all that was asked for is done. @throws Error for a request or a job that is lost */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
    await eventually(
      'the volumes are made, and those that were deleted are gone',
      () => this.unfinished(),
      (names) => names.length === 0,
      DONE_MS_MAX,
    );
  }

  private async unfinished(): Promise<string[]> {
    const { items } = await this.stack.inCluster<{ items: Volume[] }>('GET', '/volumes?limit=100');
    const byId = new Map(items.map((volume) => [volume.id, volume]));
    const unmade = this.kept.filter((id) => byId.get(id)?.state !== 'detached');
    return [...unmade, ...this.deleted.filter((id) => byId.has(id))];
  }

  private async run(): Promise<void> {
    for (let count = 1; !this.isStopped; count += 1) {
      const spec = { name: `load-${count}`, size: 16 * MIB, numberOfReplicas: 2 };
      const made = await this.ask<Volume>('POST', '/volumes', spec);
      this.kept.push(made?.id ?? '');
      if (this.kept.length > KEPT) {
        const id = this.kept.shift() ?? '';
        await this.ask('DELETE', `/volumes/${id}`);
        this.deleted.push(id);
      }
      await this.ask('GET', '/volumes');
      await sleep(PAUSE_MS);
    }
  }

  private async ask<T>(method: string, route: string, body?: object): Promise<T | undefined> {
    const startedMs = performance.now();
    const key = randomUUID();
    for (;;) {
      try {
        const answer = await this.stack.inCluster<T>(method, route, body, { 'idempotency-key': key });
        this.answered += 1;
        this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - startedMs));
        return answer;
      } catch (error) {
        // The volume is gone already where a repeat of its deletion asks for it.
        if (method === 'DELETE' && String(error).includes(' 404 ')) return undefined;
        if (performance.now() - startedMs > UNANSWERED_MS_MAX) throw error;
        this.repeated += 1;
        await sleep(PAUSE_MS / 2);
      }
    }
  }
}
