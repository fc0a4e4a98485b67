/** Far longer than a read takes that a broken connection fails, and short beside what a request may take in all. */
const WAIT_MS_MAX = 1_000;

/**
 * Coalesces equal reads: callers that ask before a read is sent share its answer.
 *
 * A caller that asks while a read is under way waits for the next one: an answer is never older than its question, so a
 * token that was revoked, say, stops at once. With many requests at a time this is one round trip for all of them.
 *
 * Of a read that failed after a long wait they are told instead: the next one would have them wait as long again.
 */
export class SharedRead<Answer> {
  /** One entry per question under way: as many as there are tokens in use at one moment. */
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
  /** The next read, for callers that asked after this one was sent. */
  next: Promise<Answer> | undefined;
};
