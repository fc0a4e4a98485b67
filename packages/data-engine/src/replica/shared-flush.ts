/**
 * One queue of flushes of one thing (a layer, a copy on a block disk): those that are asked for while one runs share the
 * next one, because the one that runs may have begun before their writes ended.
 *
 * Whoever wants the thing durable goes through its queue. A caller that syncs past it would clear what says that something
 * is left to sync, and a flush that comes meanwhile would be answered before it is true.
 *
 * A flush that has failed makes every later one fail with the same error: the kernel tells an error once and forgets what
 * it could not write, so a second flush would succeed without the data. Only an error that says that nothing was lost
 * (`isFinal` answers false) may be tried again.
 */
export class SharedFlush {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly flush: () => Promise<void>,
    private readonly isFinal: (error: unknown) => boolean = () => true,
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

  private startNext(): Promise<void> {
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error);
    const running = this.flush()
      .catch((error: unknown) => {
        if (this.isFinal(error)) this.failure = { error };
        throw error;
      })
      .finally(() => {
        if (this.running === running) this.running = undefined;
      });
    this.running = running;
    return running;
  }
}
