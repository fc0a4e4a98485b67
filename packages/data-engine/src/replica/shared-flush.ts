/**
 * Lets flushes that are asked for while one runs share the next one.
 *
 * The one that runs may have begun before their writes ended, so it does not cover them; one more does, for all.
 */
export class SharedFlush {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly flush: () => Promise<void>) {}

  run(): Promise<void> {
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
    const running = this.flush().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
