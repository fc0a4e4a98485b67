/**
 * A discrete-event simulation of one process: a queue of events in virtual time, and one source of chance. Every event runs
 * alone, and whatever it has set off among promises ends before the next one begins. So the same seed makes the same run,
 * and hours of a volume's life take seconds.
 */
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { Time } from '../../src/time.js';

type Event = { readonly atMs: number; readonly number: number; run: (() => void) | undefined };

export class World {
  nowMs = 0;
  events = 0;
  readonly random: SeededRandom;
  /** What happened, for the report of a failure. */
  readonly story: string[] = [];
  private readonly queue: Event[] = [];
  private numbers = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
  }

  note(text: string): void {
    this.story.push(`${(this.nowMs / 1000).toFixed(3).padStart(9)} s  ${text}`);
  }

  /** @returns what takes the event back */
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

  /** A length of time by chance, most of them near the lower end. */
  duration(minMs: number, maxMs: number): number {
    const share = this.random.below(1001) / 1000;
    return minMs + (maxMs - minMs) * share * share;
  }

  /** Runs events until the work has ended. @throws what the work throws, or when nothing is left that could go on */
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
      await settled();
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

/** Resolves when every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One life of one process: what it waits for never comes once it is dead, and comes late while it is stopped. */
export class Life {
  isAlive = true;
  /** It did not only die: the machine did. */
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

  /** @returns what takes it back */
  later(delayMs: number, run: () => void): () => void {
    let cancel = this.world.after(delayMs, () => {
      if (!this.isAlive) return;
      const waitMs = this.stoppedUntilMs - this.world.nowMs;
      if (waitMs > 0) cancel = this.later(waitMs, run);
      else run();
    });
    return () => cancel();
  }

  /** As a process that gets SIGSTOP and, later, SIGCONT. */
  stop(ms: number): void {
    this.stoppedUntilMs = this.world.nowMs + ms;
  }

  kill(lostPower = false): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.lostPower = lostPower;
    for (const mourn of this.mourners) mourn();
  }

  /** Called once when it dies; at once when it is dead. @returns what takes that back */
  onDeath(mourn: () => void): () => void {
    if (this.isAlive) this.mourners.add(mourn);
    else mourn();
    return () => void this.mourners.delete(mourn);
  }
}

/** A binary heap: the earliest event first, of those at one moment the one that was asked for first. */
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
