/**
 * Bounded queue between one producer and one consumer, which reads it as an async iterator. A consumer that falls behind the bound ends it:
 * messages put before that are still read.
 */
export class MessageQueue<Message> implements AsyncIterableIterator<Message> {
  private readonly waiting: Message[] = [];
  private wake: (() => void) | undefined;
  private isEnded = false;
  private atEnd: (() => void) | undefined;

  constructor(private readonly waitingMax: number) {}

  /** Sets a callback for its end by either side; called at once if it has ended already. */
  onEnd(atEnd: () => void): void {
    if (this.isEnded) atEnd();
    else this.atEnd = atEnd;
  }

  put(message: Message): void {
    if (this.isEnded) return;
    if (this.waiting.push(message) >= this.waitingMax) this.end();
    this.wake?.();
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.wake?.();
    this.atEnd?.();
  }

  async next(): Promise<IteratorResult<Message, undefined>> {
    for (;;) {
      const value = this.waiting.shift();
      if (value !== undefined) return { done: false, value };
      if (this.isEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Message, undefined>> {
    this.waiting.length = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Message> {
    return this;
  }
}
