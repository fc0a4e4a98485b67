/** Longer than reads that fail by a broken connection take, and short compared with a request's time limit. */
const WAIT_MS_MAX = 1_000;

/**
 * Coalesces equal reads: callers that arrive before a read is sent share its answer.
 *
 * A caller that arrives during a read waits for the next one: an answer is never older than its request, so that a revoked token, for
 * example, stops at once. With many requests at a time this is one round trip for all of them.
 *
 * If a read failed after a long wait they get its error: the next one would take as long again.
 */
export class SharedRead<Answer> {
  /** One entry per running read: as many as there are tokens in use at one moment. */
  private readonly flights = new Map<string, Flight<Answer>>();

  ask(key: string, read: () => Promise<Answer>): Promise<Answer> {
    const flight = this.flights.get(key);
    if (flight === undefined) return this.start(key, read).answer;
    flight.next ??= flight.answer.then(
      () => this.start(key, read).answer,
      (error: unknown) => {
        if (performance.now() - flight.sentAtMs < WAIT_MS_MAX) return this.start(key, read).answer;
        this.flights.delete(key);
        throw error;
      },
    );
    return flight.next;
  }

  private start(key: string, read: () => Promise<Answer>): Flight<Answer> {
    const flight: Flight<Answer> = { answer: read(), sentAtMs: performance.now(), next: undefined };
    this.flights.set(key, flight);
    const landed = () => {
      if (flight.next === undefined && this.flights.get(key) === flight) this.flights.delete(key);
    };
    flight.answer.then(landed, landed);
    return flight;
  }
}

type Flight<Answer> = {
  readonly answer: Promise<Answer>;
  readonly sentAtMs: number;
  /** The next read, for callers that arrived after this one was sent. */
  next: Promise<Answer> | undefined;
};
