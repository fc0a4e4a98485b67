import fs from 'node:fs';
import { KIB, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import koffi from 'koffi';
import { hugePagesReady } from './huge-pages.js';

/** Linux was built with huge pages that a process may ask for. */
const KERNEL_HAS_THEM = fs.existsSync('/sys/kernel/mm/transparent_hugepage/enabled');

test('buffers of a window are asked for in huge pages, and small ones are not', async () => {
  await hugePagesReady();
  // Loaded anew: it keeps buffers that were returned, and other suites of this process may have had some before huge pages were ready.
  const url = new URL('./aligned-buffers.ts?anew', import.meta.url);
  const { leaseAligned }: typeof import('./aligned-buffers.js') = await import(url.href);
  const [window, small] = [leaseAligned(WINDOW_BYTES), leaseAligned(64 * KIB)];
  expect(isAskedForHuge(window.buffer)).toBe(KERNEL_HAS_THEM);
  expect(isAskedForHuge(small.buffer)).toBe(false);
  for (const { release } of [window, small]) release();
});

/** By the flag `hg` that the kernel shows of the mapping that a buffer lies in (`smaps` of proc). */
function isAskedForHuge(buffer: Buffer): boolean {
  const at = koffi.address(buffer);
  let isHere = false;
  for (const line of fs.readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (start !== undefined && end !== undefined)
      isHere = at >= BigInt(`0x${start}`) && at < BigInt(`0x${end}`);
    if (isHere && line.startsWith('VmFlags:')) return line.split(' ').includes('hg');
  }
  throw new Error('the buffer lies in no mapping');
}
