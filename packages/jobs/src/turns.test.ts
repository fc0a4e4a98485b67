import { expect, test } from '@jest/globals';
import { TURN_MAX, Turns } from './turns.js';

/** A queue of jobs that begin by priority, and with equal priority in the order in which they were added. */
class Line {
  readonly turns = new Turns();
  private readonly waiting: { key: string; turn: number }[] = [];

  put(party: string, count: number): void {
    for (let n = 0; n < count; n += 1) {
      const key = `${party}-${this.waiting.length}`;
      this.waiting.push({ key, turn: this.turns.take(key, party) });
    }
  }

  /** Begins the next jobs, and counts those of each party. */
  begin(count: number): Record<string, number> {
    const begun: Record<string, number> = {};
    for (let n = 0; n < count; n += 1) {
      const next = this.waiting.reduce((best, job) => (job.turn < best.turn ? job : best));
      this.waiting.splice(this.waiting.indexOf(next), 1);
      this.turns.began(next.key, next.turn);
      const party = next.key.split('-')[0] ?? '';
      begun[party] = (begun[party] ?? 0) + 1;
    }
    return begun;
  }
}

test('who comes with one job while another has thousands waiting is next', () => {
  const line = new Line();
  line.put('filler', 2_000);
  line.begin(100);
  line.put('other', 1);
  expect(line.begin(2)).toEqual({ other: 1, filler: 1 });
});

test('two that both have many waiting are served in turn, whoever came first', () => {
  const line = new Line();
  line.put('filler', 1_000);
  line.begin(200);
  line.put('other', 500);
  const begun = line.begin(400);
  expect(Math.abs((begun.filler ?? 0) - (begun.other ?? 0))).toBeLessThanOrEqual(2);
});

test('who has waited keeps its turn while others come again and again', () => {
  const line = new Line();
  line.put('filler', 100);
  let filled = 0;
  for (let round = 0; round < 100; round += 1) {
    line.put('others', 1);
    filled += line.begin(2).filler ?? 0;
  }
  expect(filled).toBe(100);
});

test('a job that is put in again keeps its turn, and costs its party no other', () => {
  const turns = new Turns();
  expect(turns.take('volume', 'party')).toBe(1);
  for (let n = 0; n < 50; n += 1) expect(turns.take('volume', 'party')).toBe(1);
  expect(turns.take('other', 'party')).toBe(2);
});

test('turns stay within what the queue takes, and begin anew when nothing waits', () => {
  const turns = new Turns();
  turns.began('volume', TURN_MAX);
  expect(turns.take('volume', 'party')).toBe(TURN_MAX);
  turns.reset();
  expect(turns.take('volume', 'party')).toBe(1);
});
