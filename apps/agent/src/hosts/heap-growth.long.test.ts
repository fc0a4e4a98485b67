/** In a process of its own, as hosts are: a test's runner has a heap of another size. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { growthPercent } from './heap-growth.js';

const MIB = 2 ** 20;

/**
 * With 100,000 live objects, and as many garbage objects as requested when it asks for room, receives 4 GiB in buffers of 64 KiB, of
 * which 16 MiB are held at any time, and prints how often the whole heap was collected after the first of them.
 */
const RECEIVING = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { leaveRoomForPayloads } from '@holdfast/agent/hosts/heap-growth.js';
  const [how, garbage] = process.argv.slice(1);
  const objects = (count) => Array.from({ length: count }, (_, n) => ({ n, text: 'object ' + n }));
  objects(Number(garbage));
  if (how === 'with room') leaveRoomForPayloads();
  let full = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) full += 1;
  }).observe({ entryTypes: ['gc'] });
  const live = objects(100_000);
  const held = [];
  for (let n = 0; n < 65536; n += 1) {
    if (n === 16384) full = 0;
    held.push(Buffer.allocUnsafeSlow(65536));
    if (held.length > 256) held.shift();
    if (n % 16 === 0) await new Promise(setImmediate);
  }
  await sleep(50);
  console.log(live.length > 0 ? full : NaN);`;

async function fullCollections(how: 'with room' | 'as V8 does', garbage: number): Promise<number> {
  // Collections on other threads end sooner or later with the machine's load, which changes their number.
  const flags = [
    '--single-threaded-gc',
    '--max-semi-space-size=4',
    '--input-type=module',
    '--eval',
    RECEIVING,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, how, String(garbage)], {
    cwd: import.meta.dirname,
  });
  return Number(stdout);
}

describe('the heap of a host', () => {
  test.each([
    { of: 'a small one grows by 64 MiB', heap: 8 * MIB, percent: 800 },
    { of: 'a large one by its own size', heap: 200 * MIB, percent: 100 },
  ])('$of', ({ heap, percent }) => {
    expect(growthPercent(heap)).toBe(percent);
  });

  test.each([
    { of: 'that holds what is alive', garbage: 0 },
    { of: 'that is full of garbage when it asks for room', garbage: 600_000 },
  ])('is not collected whole for every few payloads: one $of', async ({ garbage }) => {
    const byItself = await fullCollections('as V8 does', garbage);
    expect(byItself).toBeGreaterThan(3);
    expect(await fullCollections('with room', garbage)).toBeLessThan(byItself / 2);
  });
});
