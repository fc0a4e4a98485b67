import { expect, test } from '@jest/globals';
import { LongRuns, type MayAct } from './long-runs.js';

const LIMITS = { slotMs: 5, runsMax: 4 };

/** Runs whose work ends when the test says so; of some it is known whether they were let act. */
function aRoom() {
  const woken: string[] = [];
  const errors: unknown[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const refused: string[] = [];
  const runs = new LongRuns(
    { wakeAgain: async (key) => void woken.push(key), onError: (error) => errors.push(error) },
    LIMITS,
  );
  const hang = (key: string) => (mayAct: MayAct) => {
    if (!mayAct(key.slice(0, 1))) {
      refused.push(key);
      return Promise.resolve();
    }
    return new Promise<void>((resolve, reject) => {
      ends.set(key, (error) => (error === undefined ? resolve() : reject(error)));
    });
  };
  return { woken, errors, refused, runs, ends, start: (key: string) => runs.run(key, hang(key)) };
}

test('work that hangs gives its slot back, and its subject is worked on once at a time', async () => {
  const { runs, start, ends, woken } = aRoom();
  await start('a1');
  await start('a1');
  await start('b1');
  expect([...ends.keys()]).toEqual(['a1', 'b1']);
  for (const end of ends.values()) end();
  await runs.stop();
  expect(woken).toEqual(['a1']);
});

test('each organization may have as many runs that hang as are left for all', async () => {
  const { start, refused } = aRoom();
  for (const key of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1']) await start(key);
  // Of four places two are for the first one, one for the second, and one for the next.
  expect(refused).toEqual(['a3', 'b2', 'd1']);
});

test('a run that hangs goes on acting when it may', async () => {
  const { runs } = aRoom();
  const allowed: boolean[] = [];
  let isAnswered = () => {};
  const answer = new Promise<void>((resolve) => {
    isAnswered = resolve;
  });
  await runs.run('a1', async (mayAct) => {
    allowed.push(mayAct('a'));
    await answer;
    allowed.push(mayAct('a'));
  });
  const others = (owner: string) => (mayAct: MayAct) => {
    mayAct(owner);
    return answer;
  };
  await runs.run('a2', others('a'));
  await runs.run('b1', others('b'));
  isAnswered();
  await runs.stop();
  expect(allowed).toEqual([true, true]);
});

test('what fails within its slot is thrown, and later it is reported', async () => {
  const { runs, start, ends, errors } = aRoom();
  await expect(runs.run('a1', () => Promise.reject(new Error('at once')))).rejects.toThrow('at once');
  await start('a2');
  ends.get('a2')?.(new Error('later'));
  await runs.stop();
  expect(errors).toEqual([new Error('later')]);
});
