import { expect, test } from '@jest/globals';
import { FairSlots, type Patience, type SlotLimits } from './fair-slots.js';

const LIMITS: SlotLimits = { slots: 3, ofOwner: 2, waitingOfOwner: 3, waiting: 4 };
/** A day: longer than the process of a test lives, even if it continues with other suites on a busy machine. */
const LONG: Patience = { ms: 86_400_000 };

/** Work that ends when the test says so, by the name that it was started under. */
function aRoom(limits: SlotLimits = LIMITS) {
  const slots = new FairSlots(limits, (why) => new Error(why));
  const running = new Map<string, () => void>();
  return {
    running: () => [...running.keys()],
    start: (name: string, patience: Patience = LONG) => {
      const [owner = ''] = name.split('');
      const work = () => new Promise<string>((resolve) => running.set(name, () => resolve(name)));
      return slots.use(owner, work, patience);
    },
    end: async (name: string) => {
      running.get(name)?.();
      running.delete(name);
      // The slot is passed on in the turns after the end of the work.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('an owner gets no more than its share, and another one the rest', () => {
  const room = aRoom();
  for (const name of ['a1', 'a2', 'a3', 'b1']) void room.start(name);
  expect(room.running()).toEqual(['a1', 'a2', 'b1']);
});

test('of those that wait the owner with the fewest slots is next, then the one that was served longest ago', async () => {
  const room = aRoom({ ...LIMITS, slots: 2, ofOwner: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) void room.start(name);
  await room.end('a1');
  expect(room.running()).toEqual(['a2', 'b1']);
  await room.end('b1');
  expect(room.running()).toEqual(['a2', 'c1']);
  await room.end('a2');
  expect(room.running()).toEqual(['c1', 'a3']);
});

test('with one slot owners take turns, however many of one wait', async () => {
  const room = aRoom({ ...LIMITS, slots: 1, ofOwner: 1 });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void room.start(name);
  const order = [];
  for (let [name] = room.running(); name !== undefined; [name] = room.running()) {
    order.push(name);
    await room.end(name);
  }
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('work that fails gives its slot back', async () => {
  const slots = new FairSlots({ ...LIMITS, slots: 1 }, (why) => new Error(why));
  await expect(slots.use('a', () => Promise.reject(new Error('broken')), LONG)).rejects.toThrow('broken');
  expect(await slots.use('a', async () => 'done', LONG)).toBe('done');
});

test.each([
  { what: 'of one owner', waiting: ['a3', 'a4', 'a5'], refused: 'a6', later: ['b2'], next: 'b2' },
  { what: 'of all', waiting: ['a3', 'a4', 'b2', 'c1'], refused: 'b3', later: [], next: 'c1' },
])('more than may wait $what are refused at once', async ({ waiting, refused, later, next }) => {
  const room = aRoom();
  for (const name of ['a1', 'a2', 'b1', ...waiting]) void room.start(name);
  await expect(room.start(refused)).rejects.toThrow('full');
  for (const name of later) void room.start(name);
  await room.end('b1');
  expect(room.running()).toEqual(['a1', 'a2', next]);
});

test('a caller that gives up leaves the line', async () => {
  const room = aRoom({ ...LIMITS, slots: 1, ofOwner: 1 });
  void room.start('a1');
  const caller = new AbortController();
  const patience = { ...LONG, gone: caller.signal };
  const left = room.start('a2', patience);
  void room.start('a3');
  caller.abort();
  await expect(left).rejects.toThrow('gave-up');
  await expect(room.start('a4', patience)).rejects.toThrow('gave-up');
  await room.end('a1');
  expect(room.running()).toEqual(['a3']);
});

test('a caller waits for as long as it has patience, and for no longer', async () => {
  const room = aRoom({ ...LIMITS, slots: 1, ofOwner: 1 });
  void room.start('a1');
  const left = room.start('a2', { ms: 1 });
  void room.start('a3');
  await expect(left).rejects.toThrow('gave-up');
  await room.end('a1');
  expect(room.running()).toEqual(['a3']);
});
