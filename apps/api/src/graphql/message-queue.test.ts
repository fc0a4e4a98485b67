import { expect, test } from '@jest/globals';
import { MessageQueue } from './message-queue.js';

async function readAll(queue: MessageQueue<number>): Promise<number[]> {
  const read: number[] = [];
  for await (const message of queue) read.push(message);
  return read;
}

test('what is put is read in its order, whether it is waited for or not', async () => {
  const queue = new MessageQueue<number>(10);
  queue.put(1);
  const read = readAll(queue);
  await Promise.resolve();
  queue.put(2);
  queue.put(3);
  queue.end();
  queue.put(4);
  expect(await read).toEqual([1, 2, 3]);
});

test('a reader that falls behind the bound gets what is there, and then the end', async () => {
  let ended = 0;
  const queue = new MessageQueue<number>(2);
  queue.onEnd(() => {
    ended += 1;
  });
  for (const message of [1, 2, 3]) queue.put(message);
  expect(ended).toBe(1);
  expect(await readAll(queue)).toEqual([1, 2]);
});

test('a reader that goes away ends it once, also when the end is awaited later', async () => {
  const queue = new MessageQueue<number>(10);
  queue.put(1);
  await queue.return();
  let ended = 0;
  queue.onEnd(() => {
    ended += 1;
  });
  queue.end();
  expect(ended).toBe(1);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});
