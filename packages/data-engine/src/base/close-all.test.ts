import { expect, test } from '@jest/globals';
import { closeAll } from './close-all.js';

test('everything is closed though one closing fails, and the first failure is thrown', async () => {
  const closed: string[] = [];
  const one = (name: string, fails = false) => ({
    close: async () => {
      closed.push(name);
      if (fails) throw new Error(name);
    },
  });
  await expect(closeAll([one('a'), one('b', true), one('c', true), one('d')])).rejects.toThrow('b');
  expect(closed).toEqual(['a', 'b', 'c', 'd']);
});
