/**
 * Flush queue of one target, such as a layer or a copy on a block disk (group commit): requests that arrive while a
 * flush runs share the next one, because the running one may have begun before their writes ended.
 *
 * Every caller has to flush through the queue. A sync past it would clear the dirty state, and a concurrent flush
 * would be answered before it is true.
 *
 * After a failure every later flush fails with the same error: the kernel reports an error once and drops what it
 * could not write, so a second flush would succeed without the data. Only an error that lost nothing (`isFinal`
 * returns false) may be retried.
 */
export class SharedFlush {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly flush: () => Promise<void>,
    private readonly isFinal: (error: unknown) => boolean = () => true,
    /** Called once, with the first final failure, before any caller gets its answer. */
    private readonly onFailed: (error: unknown) => void = () => undefined,
  ) {}

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  run(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error);
    if (this.running === undefined) return this.start();
    this.next ??= this.running.then(
      () => this.startNext(),
      () => this.startNext(),
    );
    return this.next;
  }

  private fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = { error };
    this.onFailed(error);
  }

  private startNext(): Promise<void> {
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error);
    const running = this.flush()
      .catch((error: unknown) => {
        if (this.isFinal(error)) this.fail(error);
        throw error;
      })
      .finally(() => {
        // While a flush waits to start, `running` stays set until it does. Otherwise a call in between would start its own flush and take
        // the dirty state: the waiting flush would find nothing to do, and answer its callers before their data is synced.
        if (this.running === running && this.next === undefined) this.running = undefined;
      });
    this.running = running;
    return running;
  }
}
