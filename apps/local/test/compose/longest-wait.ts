/** How long users have waited at most, for one kind of thing that they ask for. One that still waits counts from its start. */
export class LongestWait {
  private longestMs = 0;
  private readonly startedMs = new Set<number>();

  async during<T>(act: (startedMs: number) => Promise<T>): Promise<T> {
    // Two that begin in the same moment are one for this.
    const startedMs = performance.now();
    this.startedMs.add(startedMs);
    try {
      return await act(startedMs);
    } finally {
      this.startedMs.delete(startedMs);
      this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
    }
  }

  /** @returns the longest wait since this was asked last, in milliseconds */
  take(): number {
    const waiting = [...this.startedMs].map((startedMs) => performance.now() - startedMs);
    const longestMs = Math.max(this.longestMs, ...waiting);
    this.longestMs = 0;
    return Math.round(longestMs);
  }
}
