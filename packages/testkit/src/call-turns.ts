/** Decides in which order the calls of several simulated processes are made: by chance, from a seed, so that a run can be repeated. */
import { setImmediate } from 'node:timers/promises';
import type { SeededRandom } from './seeded-random.js';

export class CallTurns {
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly random: SeededRandom) {}

  /** Resolves when it is this call's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Gives turns until all processes have ended. */
  async runAll(processes: readonly Promise<void>[]): Promise<void> {
    let running = processes.length;
    for (const one of processes) void one.then(ended, ended);
    function ended(): void {
      running -= 1;
    }
    while (running > 0) {
      // What a process does between two calls is over by then: it waits for nothing but calls.
      await setImmediate();
      const [next] = this.waiting.splice(this.random.below(this.waiting.length), 1);
      next?.();
    }
    await Promise.all(processes);
  }
}
