/** Port to a backup target: objects by name. Implementations: a folder, S3, and what the tests inject faults into. */

export type ObjectInfo = { readonly name: string; readonly sizeBytes: number; readonly modifiedAt: Date };

export type PutOptions = {
  /** Only where there is none of that name: two writers can't both have made it. */
  readonly ifAbsent?: boolean;
  /** Object lock: until then the target refuses to delete it. Ignored where the target has none. */
  readonly lockedUntil?: Date;
};

/** Every call ends within bounded time, or throws a StorageFault `backup.target_…`. One that is `unavailable` may be called again. */
export interface ObjectStore {
  /** For people: never with credentials. */
  readonly description: string;
  /** The whole object; `undefined`: there is none. @throws StorageFault `backup.too_large` above `bytesMax`, before it is read */
  get(name: string, bytesMax: number): Promise<Buffer | undefined>;
  /**
   * Part of an object, exactly as long as asked for; `undefined`: there is no such object, or it ends before.
   *
   * @param memory may be used for the answer, from its beginning on, where it is long enough. What stands in it is lost.
   */
  getRange(name: string, offset: number, lengthBytes: number, memory?: Buffer): Promise<Buffer | undefined>;
  /** Once it has returned, the object is durable and every later `get` finds it whole. */
  put(name: string, bytes: Buffer, options?: PutOptions): Promise<'stored' | 'exists'>;
  head(name: string): Promise<ObjectInfo | undefined>;
  /** Objects whose names begin so, in any order. A target may list late what was written or deleted just now. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Succeeds too where there is none. `locked`: an object lock forbids it for now. */
  delete(name: string): Promise<'deleted' | 'locked'>;
  /** Lengthens an object's lock; left out: the target has no object lock. */
  lock?(name: string, until: Date): Promise<void>;
  close(): void;
}
