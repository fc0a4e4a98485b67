import { expect, test } from '@jest/globals';
import type { BulkResult } from '../api/bulk-calls';
import { runEach } from './bulk';

const ITEMS = Array.from({ length: 20 }, (_, n) => ({ id: String(n), name: `v-${n}` }));

test('an action over many runs for each once, six at a time, and a refusal holds no other', async () => {
  let running = 0;
  let most = 0;
  const results = new Map<string, BulkResult>();
  await runEach(
    ITEMS,
    async ({ id }) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return id === '3' ? { kind: 'refused', why: 'it is attached' } : { kind: 'ok', note: '' };
    },
    (id, result) => results.set(id, result),
  );
  expect([...results.keys()].sort()).toEqual(ITEMS.map(({ id }) => id).sort());
  expect([...results].filter(([, { kind }]) => kind === 'refused').map(([id]) => id)).toEqual(['3']);
  expect(most).toBe(6);
});
