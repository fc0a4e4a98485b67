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

const RUNS = 5;

/** The lowest of some runs: V8 also goes by how fast it allocates and collects, which a busy machine changes from run to run. */
function highestHeapMib(first: readonly string[]): number {
  // Without threads that collect beside the program: they end late where another process has the core.
  const flags = ['--single-threaded-gc', ...first, '--input-type=module', '--eval', CHURN];
  return Math.min(...Array.from({ length: RUNS }, () => Number(execFileSync(process.execPath, flags))));
}

test('the heap of the API process grows less between collections than V8 would let it', () => {
  const growth = pathToFileURL(`${repositoryRoot}/apps/api/dist/heap-growth.js`).href;
  expect(highestHeapMib(['--import', growth])).toBeLessThan(0.75 * highestHeapMib([]));
});
