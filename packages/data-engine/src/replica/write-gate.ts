/**
 * Gate for writes (a shared/exclusive lock): many writes run at once, and an exclusive operation (a snapshot,
 * clearing the write-intent map) waits for them to end. Writes that arrive meanwhile wait.
 */
export class WriteGate {
  private running = 0;
  private exclusive: Promise<void> | undefined;
  private whenIdle: (() => void) | undefined;

  /** True while a write is admitted at once. */
  get isOpen(): boolean {
    return this.exclusive === undefined;
  }

  /**
   * Admits a write; the caller calls `leave` when it has ended. A promise if the write has to wait, nothing if it was
   * admitted at once. That is nearly always so: the path of every write has no promise to spare.
   */
  enter(): Promise<void> | undefined {
    if (this.exclusive !== undefined) return this.enterLater();
    this.running += 1;
    return undefined;
  }

  leave(): void {
    this.running -= 1;
    if (this.running === 0) this.whenIdle?.();
  }

  private async enterLater(): Promise<void> {
    while (this.exclusive !== undefined) await this.exclusive;
    this.running += 1;
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.exclusive !== undefined) await this.exclusive;
    let open: () => void = () => undefined;
    this.exclusive = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.running > 0) {
        await new Promise<void>((resolve) => {
          this.whenIdle = resolve;
        });
        this.whenIdle = undefined;
      }
      return await work();
    } finally {
      this.exclusive = undefined;
      open();
    }
  }
}
