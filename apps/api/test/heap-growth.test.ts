import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { expect, test } from '@jest/globals';

const LIVE_PARTS = 32;
/** Keeps 32 parts of a MiB and more alive while it replaces them eight times over, and tells the highest size of its heap in MiB. */
const CHURN = `
  const live = Array.from({ length: ${LIVE_PARTS} }, () => []);
  let highest = 0;
  for (let round = 0; round < 8 * live.length; round += 1) {
    live[round % live.length] = Array.from({ length: 16_384 }, (_, at) => ({ at, round, half: at + 0.5 }));
    highest = Math.max(highest, process.memoryUsage().heapTotal);
  }
  console.log(highest / 2 ** 20);
`;

function highestHeapMib(first: readonly string[]): number {
  return Number(execFileSync(process.execPath, [...first, '--input-type=module', '--eval', CHURN]));
}

test('the heap of the API process grows less between collections than V8 would let it', () => {
  const growth = pathToFileURL(`${repositoryRoot}/apps/api/dist/heap-growth.js`).href;
  expect(highestHeapMib(['--import', growth])).toBeLessThan(0.75 * highestHeapMib([]));
});
