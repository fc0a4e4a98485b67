/**
 * Discrete-event simulation of one process: a queue of events in virtual time, and one source of randomness. Events
 * run one at a time, and all promises that one has set off end before the next begins. So the same seed gives the
 * same run, and hours of a volume's life take seconds.
 */
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { Time } from '../../src/base/time.js';

type Event = { readonly atMs: number; readonly number: number; run: (() => void) | undefined };

export class World {
  nowMs = 0;
  events = 0;
  readonly random: SeededRandom;
  /** Log of the run, for the report of a failure. */
  readonly story: string[] = [];
  private readonly queue: Event[] = [];
  private numbers = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
  }

  note(text: string): void {
    this.story.push(`${(this.nowMs / 1000).toFixed(3).padStart(9)} s  ${text}`);
  }

  /** @returns a function that cancels the event */
  after(delayMs: number, run: () => void): () => void {
    const event: Event = { atMs: this.nowMs + delayMs, number: this.numbers, run };
    this.numbers += 1;
    push(this.queue, event);
    return () => {
      event.run = undefined;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** A random duration, most often near the lower end. */
  duration(minMs: number, maxMs: number): number {
    const share = this.random.below(1001) / 1000;
    return minMs + (maxMs - minMs) * share * share;
  }

  /** Runs events until the work has ended. @throws the work's error, or one if no event is left */
  async run<T>(work: Promise<T>, untilMs: number): Promise<T> {
    let outcome: { value: T } | { error: unknown } | undefined;
    work.then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        outcome = { error };
      },
    );
    for (;;) {
      await quiescent();
      if (outcome !== undefined) break;
      const event = pop(this.queue);
      if (event === undefined) throw new Error('the simulation stands still');
      if (event.atMs > untilMs) throw new Error(`the simulation is not done by ${untilMs / 1000} s`);
      if (event.run === undefined) continue;
      this.nowMs = event.atMs;
      this.events += 1;
      event.run();
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** Resolves when no promise can make progress without an event. */
function quiescent(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lifetime of one process: its timers never fire once it is dead, and fire late while it is stopped. */
export class Life {
  isAlive = true;
  /** True if not only the process died, but its machine lost power. */
  lostPower = false;
  private stoppedUntilMs = 0;
  private readonly mourners = new Set<() => void>();

  constructor(
    private readonly world: World,
    readonly name: string,
  ) {}

  readonly time: Time = {
    nowMs: () => this.world.nowMs,
    date: () => new Date(Math.round(this.world.nowMs)),
    sleep: (ms) => new Promise((resolve) => void this.later(ms, resolve)),
    after: (ms, call) => this.later(ms, call),
  };

  /** @returns a function that cancels the call */
  later(delayMs: number, run: () => void): () => void {
    let cancel = this.world.after(delayMs, () => {
      if (!this.isAlive) return;
      const waitMs = this.stoppedUntilMs - this.world.nowMs;
      if (waitMs > 0) cancel = this.later(waitMs, run);
      else run();
    });
    return () => cancel();
  }

  /** Stops the process as SIGSTOP does, and continues it as SIGCONT. */
  stop(ms: number): void {
    this.stoppedUntilMs = this.world.nowMs + ms;
  }

  kill(lostPower = false): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.lostPower = lostPower;
    for (const mourn of this.mourners) mourn();
  }

  /** Calls once when it dies; at once if it is dead. @returns a function that cancels the call */
  onDeath(mourn: () => void): () => void {
    if (this.isAlive) this.mourners.add(mourn);
    else mourn();
    return () => void this.mourners.delete(mourn);
  }
}

/** Binary heap ordered by time; events of the same time run in the order of their requests. */
function push(queue: Event[], event: Event): void {
  let at = queue.push(event) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(queue[at], queue[parent])) return;
    swap(queue, at, parent);
    at = parent;
  }
}

function pop(queue: Event[]): Event | undefined {
  const first = queue[0];
  const last = queue.pop();
  if (queue.length === 0 || last === undefined) return first;
  queue[0] = last;
  for (let at = 0; ; ) {
    let least = at;
    for (const child of [2 * at + 1, 2 * at + 2]) if (isBefore(queue[child], queue[least])) least = child;
    if (least === at) return first;
    swap(queue, at, least);
    at = least;
  }
}

function isBefore(a: Event | undefined, b: Event | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
}

function swap(queue: Event[], a: number, b: number): void {
  const [one, other] = [queue[a], queue[b]];
  if (one === undefined || other === undefined) return;
  queue[a] = other;
  queue[b] = one;
}
