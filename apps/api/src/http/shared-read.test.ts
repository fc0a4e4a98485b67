import { expect, jest, test } from '@jest/globals';
import { SharedRead } from './shared-read.js';

/** Answers when it is told to; counts how often it was asked. */
function source() {
  const waiting: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = [];
  return {
    read: () => new Promise<string>((resolve, reject) => waiting.push({ resolve, reject })),
    waiting,
  };
}

const afterMicrotasks = () => new Promise((resolve) => setImmediate(resolve));

test('callers that ask after the question was sent get the next answer, together', async () => {
  const shared = new SharedRead<string>();
  const { read, waiting } = source();
  const first = shared.ask('k', read);
  const [second, third] = [shared.ask('k', read), shared.ask('k', read)];
  expect(waiting).toHaveLength(1);
  waiting[0]?.resolve('old');
  expect(await first).toBe('old');
  await afterMicrotasks();
  expect(waiting).toHaveLength(2);
  waiting[1]?.resolve('new');
  expect(await Promise.all([second, third])).toEqual(['new', 'new']);
  await afterMicrotasks();
  const fourth = shared.ask('k', read);
  waiting[2]?.resolve('newest');
  expect(await fourth).toBe('newest');
});

test('other questions do not wait', async () => {
  const shared = new SharedRead<string>();
  const { read, waiting } = source();
  void shared.ask('a', read);
  void shared.ask('b', read);
  expect(waiting).toHaveLength(2);
});

test('a failure is told to those who asked it, and the next question is asked anew', async () => {
  const shared = new SharedRead<string>();
  const { read, waiting } = source();
  const [first, second] = [shared.ask('k', read), shared.ask('k', read)];
  waiting[0]?.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await afterMicrotasks();
  waiting[1]?.resolve('fine');
  expect(await second).toBe('fine');
});

test('callers that have waited long behind a failure are told of it, and the next question is asked anew', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const shared = new SharedRead<string>();
  const { read, waiting } = source();
  const [first, second] = [shared.ask('k', read), shared.ask('k', read)];
  clock.mockReturnValue(9_000);
  waiting[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect(second).rejects.toThrow('away');
  const third = shared.ask('k', read);
  expect(waiting).toHaveLength(2);
  waiting[1]?.resolve('fine');
  expect(await third).toBe('fine');
  clock.mockRestore();
});
