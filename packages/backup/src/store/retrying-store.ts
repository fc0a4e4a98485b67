/**
 * Repeats calls that a target has failed for the moment, each a bounded number of times and after growing rests. A repeated conditional PUT may
 * say `exists` of what the first one stored, if its answer was lost: callers compare what is there with what they meant to write.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { ObjectInfo, ObjectStore, PutOptions } from './object-store.js';

/** With rests of 0.2 to 12.8 s, a target may refuse for about 25 s, as S3 does while it divides a busy prefix. */
const ATTEMPTS = 8;
const REST_MS = 200;

export type Sleep = (ms: number) => Promise<void>;

export class RetryingStore implements ObjectStore {
  readonly description: string;
  readonly lock?: (name: string, until: Date) => Promise<void>;

  constructor(
    private readonly store: ObjectStore,
    private readonly sleep: Sleep,
    private readonly attempts = ATTEMPTS,
  ) {
    this.description = store.description;
    if (store.lock !== undefined)
      this.lock = (name, until) => this.repeated(async () => store.lock?.(name, until));
  }

  get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.repeated(() => this.store.get(name, bytesMax));
  }

  getRange(name: string, offset: number, lengthBytes: number, memory?: Buffer): Promise<Buffer | undefined> {
    return this.repeated(() => this.store.getRange(name, offset, lengthBytes, memory));
  }

  put(name: string, bytes: Buffer, options?: PutOptions): Promise<'stored' | 'exists'> {
    return this.repeated(() => this.store.put(name, bytes, options));
  }

  head(name: string): Promise<ObjectInfo | undefined> {
    return this.repeated(() => this.store.head(name));
  }

  /** Begins again from the first page; what was told before is left out. */
  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    const told = new Set<string>();
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const info of this.store.list(prefix)) {
          if (told.has(info.name)) continue;
          told.add(info.name);
          yield info;
        }
        return;
      } catch (error) {
        await this.rest(error, attempt);
      }
    }
  }

  delete(name: string): Promise<'deleted' | 'locked'> {
    return this.repeated(() => this.store.delete(name));
  }

  close(): void {
    this.store.close();
  }

  private async repeated<Value>(call: () => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        await this.rest(error, attempt);
      }
    }
  }

  /** @throws the error, where no further attempt helps */
  private async rest(error: unknown, attempt: number): Promise<void> {
    if (!isFault(error, 'backup.target_unreachable') || attempt >= this.attempts) throw error;
    await this.sleep(REST_MS * 2 ** (attempt - 1));
  }
}
