/**
 * Lets many writes run at once, and now and then one thing that needs them all to have ended (a snapshot, clearing
 * the write-intent map). Writes that come meanwhile wait.
 */
export class WriteGate {
  private running = 0;
  private exclusive: Promise<void> | undefined;
  private whenIdle: (() => void) | undefined;

  /**
   * Lets a write in, who calls `leave` when it has ended. A promise where it has to wait first; nothing where it is in
   * at once, which is nearly always: the path of every write has no promise to spare.
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
