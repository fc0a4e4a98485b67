import { expect, test } from '@jest/globals';
import { inFlight } from './in-flight.js';

/** Work that ends when the test says so. */
function heldWork() {
  const begun: number[] = [];
  const endings = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const work = (item: number) => {
    begun.push(item);
    return new Promise<void>((resolve, reject) => endings.set(item, { resolve, reject }));
  };
  return {
    begun,
    work,
    end: (item: number) => endings.get(item)?.resolve(),
    fail: (item: number) => endings.get(item)?.reject(new Error(`no ${item}`)),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('as many items as may be are under way, and the next begins when any ends', async () => {
  const { begun, work, end } = heldWork();
  const done = inFlight([1, 2, 3, 4], 2, work);
  expect(begun).toEqual([1, 2]);
  end(2);
  await turn();
  expect(begun).toEqual([1, 2, 3]);
  end(1);
  await turn();
  expect(begun).toEqual([1, 2, 3, 4]);
  end(3);
  end(4);
  await done;
});

test('a failure begins nothing more, and is thrown when the rest has ended', async () => {
  const { begun, work, end, fail } = heldWork();
  let thrown: unknown;
  const done = inFlight([1, 2, 3], 2, work).catch((error: unknown) => {
    thrown = error;
  });
  fail(1);
  await turn();
  expect({ begun, thrown }).toEqual({ begun: [1, 2], thrown: undefined });
  end(2);
  await done;
  expect(thrown).toEqual(new Error('no 1'));
});

test('nothing ends at once', async () => {
  await inFlight([], 3, () => Promise.reject(new Error('never asked')));
});
