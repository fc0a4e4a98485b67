/** Counter of operations in flight, on which a caller can wait until all that had begun have ended (quiescence). */
export class Ongoing {
  private current = new Batch();

  async during<T>(work: () => Promise<T>): Promise<T> {
    const batch = this.current;
    batch.running += 1;
    try {
      return await work();
    } finally {
      batch.running -= 1;
      if (batch.running === 0) batch.empty?.();
    }
  }

  /** Resolves when every operation that began before the call has ended. */
  async ended(): Promise<void> {
    const batch = this.current;
    this.current = new Batch();
    this.earlier = Promise.all([this.earlier, batch.whenEmpty()]).then(() => undefined);
    await this.earlier;
  }

  private earlier: Promise<void> = Promise.resolve();
}

class Batch {
  running = 0;
  empty: (() => void) | undefined;

  whenEmpty(): Promise<void> {
    if (this.running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.empty = resolve;
    });
  }
}
