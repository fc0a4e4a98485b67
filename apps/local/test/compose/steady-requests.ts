/**
 * Users of the API that go on through everything: one reads, another makes volumes and deletes them, and both repeat what got no good
 * answer, a write under the same key. Each volume is a job for the workers too, which has to be done in the end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { ComposedStack, Volume } from './composed-stack.js';
import { LongestWait } from './longest-wait.js';

const PAUSE_MS = 500;
const READ_PAUSE_MS = 200;
/** Volumes that are there at once: the oldest goes when one more is made. */
const KEPT = 5;
/** A request without a good answer for so long is lost. */
const UNANSWERED_MS_MAX = 60_000;

export class SteadyRequests {
  private readonly kept: string[] = [];
  private readonly deleted: string[] = [];
  private isStopped = false;
  private running: Promise<unknown> = Promise.resolve();
  answered = 0;
  repeated = 0;
  /** From the start of a request until its good answer: a hang and repeats are part of it. */
  readonly reads = new LongestWait();
  readonly writes = new LongestWait();

  constructor(private readonly stack: ComposedStack) {}

  start(): void {
    this.running = Promise.all([this.write(), this.read()]);
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
    );
  }

  private async unfinished(): Promise<string[]> {
    const { items } = await this.stack.inCluster<{ items: Volume[] }>('GET', '/volumes?limit=100');
    const byId = new Map(items.map((volume) => [volume.id, volume]));
    const unmade = this.kept.filter((id) => byId.get(id)?.state !== 'detached');
    return [...unmade, ...this.deleted.filter((id) => byId.has(id))];
  }

  private async read(): Promise<void> {
    while (!this.isStopped) {
      await this.ask(this.reads, 'GET', '/volumes');
      await sleep(READ_PAUSE_MS);
    }
  }

  private async write(): Promise<void> {
    for (let count = 1; !this.isStopped; count += 1) {
      const spec = { name: `load-${count}`, size: 16 * MIB, numberOfReplicas: 2 };
      const made = await this.ask<Volume>(this.writes, 'POST', '/volumes', spec);
      this.kept.push(made?.id ?? '');
      if (this.kept.length > KEPT) {
        const id = this.kept.shift() ?? '';
        await this.ask(this.writes, 'DELETE', `/volumes/${id}`);
        this.deleted.push(id);
      }
      await sleep(PAUSE_MS);
    }
  }

  private ask<T>(waits: LongestWait, method: string, route: string, body?: object): Promise<T | undefined> {
    const key = randomUUID();
    return waits.during((startedMs) => this.untilAnswered<T>([method, route, body], key, startedMs));
  }

  private async untilAnswered<T>(
    [method, route, body]: [string, string, object | undefined],
    key: string,
    startedMs: number,
  ): Promise<T | undefined> {
    for (;;) {
      try {
        const answer = await this.stack.inCluster<T>(method, route, body, { 'idempotency-key': key });
        this.answered += 1;
        return answer;
      } catch (error) {
        // The volume is gone already where a repeat of its deletion asks for it.
        if (method === 'DELETE' && String(error).includes(' 404 ')) return undefined;
        if (performance.now() - startedMs > UNANSWERED_MS_MAX) throw error;
        this.repeated += 1;
        await sleep(READ_PAUSE_MS);
      }
    }
  }
}
