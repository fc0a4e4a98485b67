/**
 * Periodic task, with a pause after each run, so that a slow run never overlaps the next. An error is reported and the repetition
 * continues.
 */
export class Repeat {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly pauseMs: number,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Waits for a run that is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.onError(error);
    }
    if (this.stopped) return;
    this.timer = setTimeout(() => this.start(), this.pauseMs);
  }
}
